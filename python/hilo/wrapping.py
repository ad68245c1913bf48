"""How a thing is used as a simulator: the options of hilo.wrap."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._errors import Error
from ._hilo import Errc
from .grid import Grid

# What only the cheap simulator is asked for.
LOW_ONLY = ("set_state", "reward")


@dataclass
class Wrapped:
    """Something that can be simulated, and how. Made by hilo.wrap."""

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
    reward: Callable[[int, int, int], float] | None = None,
    states: int | None = None,
    actions: int | None = None,
    start: int | Sequence[int] | Callable[[np.random.Generator], int] | None = None,
    terminal: Sequence[int] | None = None,
    hold: int | None = None,
    identity: str | None = None,
) -> Wrapped:
    """Says how a thing is used as a simulator, where it cannot be told by looking at it.

    Of a Gymnasium environment: ``grid`` cuts a Box or MultiDiscrete observation space into cells
    (``action_grid`` the same for actions), ``set_state(env, observation)`` puts it into a state, or
    returns a copy of it that is there, which the low fidelity needs.

    Of a function ``step(state, action, rng) -> (next, reward, done)``: ``states`` and ``actions``
    are how many there are, ``start`` is a state, a list of them or a function of ``rng``.

    Of both: ``terminal`` lists states, with numbers from 0 on, that end an episode, whatever a step
    into them says. ``hold`` is for how many steps an action is held: one step of hilo is that many
    of the simulator, their rewards add up, and budgets, ``max_steps`` and ``gamma`` count them as one.
    ``reward(state, action, next)`` is what the cheap simulator pays for a step taken in the expensive
    one; without it such steps are tried out. ``set_state`` and ``reward`` are for the cheap simulator
    alone, and are refused where the expensive one is wrapped. ``identity`` is what it is known by in a
    store, in place of its code, its options and what it holds.
    """
    for name, cells in (("grid", grid), ("action_grid", action_grid)):
        if cells is not None and not isinstance(cells, Grid):
            raise Error(
                f"{name} is {cells!r}, but must be a hilo.Grid, such as "
                "hilo.Grid.of(env.observation_space, bins=...)",
                Errc.usage,
            )
    for name, function in (("set_state", set_state), ("reward", reward)):
        if function is not None and not callable(function):
            raise Error(f"{name} is {function!r}, but must be a function", Errc.usage)
    if identity is not None and not isinstance(identity, str):
        raise Error(f"identity is {identity!r}, but must be a text", Errc.usage)
    given = dict(
        grid=grid,
        action_grid=action_grid,
        set_state=set_state,
        reward=reward,
        states=states,
        actions=actions,
        start=start,
        terminal=terminal,
        hold=hold,
        identity=identity,
    )
    return Wrapped(thing, {key: value for key, value in given.items() if value is not None})


def for_role(options: dict[str, Any], role: str) -> dict[str, Any]:
    """Options that are given for both fidelities, as far as they concern one."""
    return {k: v for k, v in options.items() if role == "low" or k not in LOW_ONLY}


def check_options(options: dict[str, Any], others: Sequence[str]) -> None:
    """Throws on names that wrap does not have, with the nearest one that is known."""
    known = list(inspect.signature(wrap).parameters)[1:]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, [*known, *others], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise Error(f"{name!r} has no meaning for any simulator{hint}", Errc.usage)
