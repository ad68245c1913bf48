"""Agents written in Python: makes a subclass of hilo.Agent a kind for specs and hilo.train."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _hilo
from ._checks import text_of, whole_in
from ._errors import Error
from ._hilo import Agent, Episode, Errc, Fidelities
from .identity import fingerprint

_LARGEST = 2**53  # bound of numbers that have no bounds of their own
_KINDS: set[str] = set()


class _Adapter:
    """The object that the engine calls. It checks what the user's agent returns."""

    def __init__(self, agent: Any, num_states: int, num_actions: int):
        self._agent = agent
        self._num_actions = num_actions
        self._states = np.arange(num_states)
        self._states.setflags(write=False)
        cls = type(agent)
        self.can_be_saved = cls.save is not Agent.save and cls.load is not Agent.load

    def learn(self, episode: Episode) -> int:
        steps = self._agent.learn(episode)
        if steps is None:
            return 0
        return whole_in(steps, "what learn returns, the cheap steps it took,", 0, _LARGEST)

    def act(self) -> npt.NDArray[np.int64]:
        actions = np.asarray(self._agent.act(self._states))
        if actions.shape != self._states.shape or actions.dtype.kind not in "iu":
            raise Error(
                f"act gave an array of shape {actions.shape} and type {actions.dtype}, but must give a "
                f"whole number for each of the {len(self._states)} states that it is given",
                Errc.simulator,
            )
        if actions.size > 0 and not 0 <= actions.min() <= actions.max() < self._num_actions:
            raise Error(
                f"act gave actions from {actions.min()} to {actions.max()}, but they must be in "
                f"[0, {self._num_actions - 1}]",
                Errc.simulator,
            )
        return actions.astype(np.int64)

    def save(self) -> bytes:
        state = self._agent.save()
        if not isinstance(state, bytes):
            raise Error(f"save gave {type(state).__name__}, but must give bytes", Errc.simulator)
        return state

    def load(self, state: bytes) -> None:
        self._agent.load(state)


def _parameter(kind: str, name: str, given: Any) -> tuple[Any, ...]:
    """(name, description, default, low, high, choices) of a parameter that a class declares."""
    allowed: Any = None
    if isinstance(given, tuple) and len(given) == 2:
        given, allowed = given
    elif isinstance(given, tuple) and len(given) == 3:
        given, allowed = given[0], given[1:]
    value = given.item() if isinstance(given, np.generic) else given
    if isinstance(value, bool) and allowed is None:
        return name, "", value, 0.0, 0.0, []
    if isinstance(value, str) and isinstance(allowed, (list, type(None))):
        choices = [text_of(one, f"a choice of {name}") for one in allowed or []]
        return name, "", text_of(value, name), 0.0, 0.0, choices
    is_range = isinstance(allowed, tuple) and all(isinstance(end, (int, float)) for end in allowed)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and (allowed is None or is_range):
        low, high = (-_LARGEST, _LARGEST) if allowed is None else allowed
        if not -_LARGEST <= low <= value <= high <= _LARGEST:
            raise Error(f"{kind}: {name} is {value}, but must be in [{low}, {high}]", Errc.usage)
        return name, "", value, float(low), float(high), []
    raise Error(
        f"{kind}: parameters[{name!r}] is {given!r}, but must be a default, alone or with its "
        "range or choices: "
        '(0.5, 0, 1) or ("a", ["a", "b"])',
        Errc.usage,
    )


def add_agent_kind(agent: type) -> type:
    """Makes a class a kind of agent, for hilo.train, hilo.run and specs. Also a decorator.

    The class is a subclass of hilo.Agent and has two methods. ``learn(episode)`` learns from an
    episode of the expensive simulator; it may return the number of steps that it took in the cheap
    simulator. ``act(states)`` returns the greedy action of each state in an array. It is called
    after every episode for all states at once. With the probability epsilon of ``[train]``, a
    random action is taken instead.

    The agent is made by ``Class(fidelities, setting, **parameters)``: the simulators, the settings
    of [train] (``setting.gamma``, ``epsilon``, ``max_steps``, ``truncation``, ``seed``), and its
    own parameters. Optional class attributes describe the kind: ``kind``, its name in specs
    (default: from the name of the class); ``display``, its name in labels; ``parameters``, a dict
    of defaults, each alone or with its range, ``(0.5, 0, 1)``, or its choices,
    ``("a", ["a", "b"])``; ``low_fidelities``, the number of cheap simulators it needs, 0, 1 or 2
    for several; ``gamma_below_1`` and ``needs_model``; and ``algorithm_version``.

    A run in a store is identified by the kind, its parameters and the code of the class, as far as
    the code can be seen: after a change the agent is trained again. If the class has ``save()``,
    which returns bytes, and ``load(state)``, a long run that was interrupted continues where it
    stopped. Adding a class of the same name again replaces it.
    """
    if not isinstance(agent, type) or not issubclass(agent, Agent) or agent is Agent:
        raise Error(f"agent is {agent!r}, but must be a subclass of hilo.Agent", Errc.usage)
    for method in ("learn", "act"):
        if getattr(agent, method, None) is getattr(Agent, method, None):
            raise Error(f"{agent.__name__} has no method {method} of its own", Errc.usage)
    default = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", agent.__name__).lower()
    attributes = {key: value for base in reversed(_own_bases(agent)) for key, value in vars(base).items()}
    kind = text_of(attributes.get("kind", default), "kind")
    parameters = attributes.get("parameters", {})
    if not isinstance(parameters, dict):
        raise Error(f"{kind}: parameters is {parameters!r}, but must be a table", Errc.usage)

    maker: Any = agent

    def make(fidelities: Fidelities, common: dict[str, Any], given: dict[str, Any]) -> _Adapter:
        made = maker(fidelities, SimpleNamespace(**common), **given)
        return _Adapter(made, fidelities.high.num_states, fidelities.num_actions)

    description = ((agent.__doc__ or "").strip() or "made in Python").splitlines()[0]
    _hilo.add_python_agent(
        kind,
        text_of(attributes.get("display", kind), "display"),
        description,
        [_parameter(kind, text_of(name, "a parameter"), value) for name, value in parameters.items()],
        whole_in(attributes.get("low_fidelities", 0), "low_fidelities", 0, 2),
        bool(attributes.get("gamma_below_1", False)),
        bool(attributes.get("needs_model", False)),
        whole_in(attributes.get("algorithm_version", 1), "algorithm_version", 1, 2**31),
        2 + int(fingerprint(agent)[:7], 16),
        make,
    )
    _KINDS.add(kind)
    _shadow(agent)
    return agent


def _shadow(agent: type) -> None:
    """Frees the names of hilo.Agent's properties, such as ``q``, for attributes of the class."""
    own = {name for base in _own_bases(agent) for name in vars(base)}
    for name, member in vars(Agent).items():
        if isinstance(member, property) and name not in own | {"kind", "parameters"}:
            setattr(agent, name, None)
    if "__repr__" not in own:
        setattr(agent, "__repr__", object.__repr__)  # noqa: B010


def _own_bases(agent: type) -> list[type]:
    """The classes that the user wrote."""
    return [base for base in agent.__mro__ if base not in (Agent, object)]


def run_python(agents: Sequence[dict[str, Any]]) -> bool:
    """Whether any of these agents is of a kind that is written in Python."""
    return any(table.get("kind") in _KINDS for table in agents)
