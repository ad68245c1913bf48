"""hilo.wrap and its options: how an object is used as a simulator."""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._checks import number_in
from ._errors import Error
from ._hilo import Errc
from .grid import Grid

# Options that apply only to the cheap simulator.
LOW_ONLY = ("set_state", "set_parameters", "parameters", "reward")


@dataclass
class Wrapped:
    """An object and the options for its use as a simulator. Made by hilo.wrap."""

    thing: Any
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"hilo.wrap({self.thing!r}{options})"


def wrap(
    thing: Any,
    *,
    grid: Grid | None = None,
    action_grid: Grid | None = None,
    set_state: Callable[[Any, Any], Any] | None = None,
    set_parameters: Callable[[Any, dict[str, float]], Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    reward: Callable[[int, int, int], float] | None = None,
    states: int | None = None,
    actions: int | None = None,
    start: int | Sequence[int] | Callable[[np.random.Generator], int] | None = None,
    terminal: Sequence[int] | None = None,
    hold: int | None = None,
    identity: str | None = None,
) -> Wrapped:
    """Says how an object is used as a simulator, where hilo cannot find out by itself.

    For a Gymnasium environment: ``grid`` divides a Box or MultiDiscrete observation space into
    cells, and ``action_grid`` does the same for actions. ``set_state(env, observation)`` puts the
    environment into a state, or returns a copy of it in that state; the low fidelity needs this.

    ``set_parameters(env, parameters)`` changes numbers of the cheap simulator, such as a mass;
    ``parameters`` has them all by name, as they are. The agent "corrected" can fit them to
    expensive steps: ``agent={"kind": "corrected", "tune": {"mass": (0.5, 2.0)}}``.

    For a function ``step(state, action, rng) -> (next, reward, done)``: ``states`` and ``actions``
    are the numbers of states and actions; ``start`` is a state, a list of states or a function of
    ``rng``.

    For both: ``terminal`` lists the states, numbered from 0, that end an episode, even if a step
    into them does not say so. ``hold`` is the number of steps for which an action is held: one step
    of hilo is that many steps of the simulator, their rewards add up, and budgets, ``max_steps``
    and ``gamma`` count them as one. ``reward(state, action, next)`` is the reward of the cheap
    simulator for a step taken in the expensive one; without it such steps are tried. ``set_state``,
    ``set_parameters`` and ``reward`` are only for the cheap simulator and are refused where the
    expensive one is wrapped. ``identity`` identifies the simulator in a store, instead of its code,
    its options and its state; a hilo.VectorSimulator takes it as well, and nothing else.
    """
    for name, cells in (("grid", grid), ("action_grid", action_grid)):
        if cells is not None and not isinstance(cells, Grid):
            raise Error(
                f"{name} is {cells!r}, but must be a hilo.Grid, such as "
                "hilo.Grid.of(env.observation_space, bins=...)",
                Errc.usage,
            )
    if (set_parameters is None) != (parameters is None):
        raise Error("set_parameters and parameters belong together, but only one is given", Errc.usage)
    if parameters is not None:
        parameters = numbers_by_name(parameters, "parameters")
    for name, function in (("set_state", set_state), ("set_parameters", set_parameters), ("reward", reward)):
        if function is not None and not callable(function):
            raise Error(f"{name} is {function!r}, but must be a function", Errc.usage)
    if identity is not None and not isinstance(identity, str):
        raise Error(f"identity is {identity!r}, but must be a text", Errc.usage)
    if identity is not None and not identity.isprintable():
        raise Error(f"identity is {identity!r}, but must be one line without control characters", Errc.usage)
    given = dict(
        grid=grid,
        action_grid=action_grid,
        set_state=set_state,
        set_parameters=set_parameters,
        parameters=parameters,
        reward=reward,
        states=states,
        actions=actions,
        start=start,
        terminal=terminal,
        hold=hold,
        identity=identity,
    )
    return Wrapped(thing, {key: value for key, value in given.items() if value is not None})


def numbers_by_name(given: Any, what: str) -> dict[str, float]:
    """Checked numbers of a simulator."""
    if not isinstance(given, Mapping) or not given:
        raise Error(f'{what} is {given!r}, but must be a dict such as {{"mass": 1.0}}', Errc.usage)
    out = {}
    for name, value in given.items():
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
            raise Error(f"{what} has the name {name!r}, but names are letters, digits and _", Errc.usage)
        out[name] = number_in(value, f"{what}: {name}", -math.inf, math.inf)
    return out


def for_role(options: dict[str, Any], role: str) -> dict[str, Any]:
    """The options that apply to one fidelity, of those that are given for both."""
    return {k: v for k, v in options.items() if role == "low" or k not in LOW_ONLY}


def refuse_low_only(options: dict[str, Any], thing: Any) -> None:
    """Raises for options of the expensive simulator that only a cheap one can use."""
    useless = sorted(set(options) & set(LOW_ONLY))
    if useless:
        raise Error(
            f"{', '.join(useless)} has no meaning for the expensive simulator, {thing!r}: only the "
            "cheap one is put into states, is changed, and is asked for rewards of steps taken "
            "elsewhere; give it to that one",
            Errc.usage,
        )


def check_options(options: dict[str, Any], others: Sequence[str]) -> None:
    """Raises for names that are no options of wrap, and suggests the nearest known name."""
    known = list(inspect.signature(wrap).parameters)[1:]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, [*known, *others], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise Error(f"{name!r} has no meaning for any simulator{hint}", Errc.usage)
