"""Simulators written in Python: the interface that the engine calls, and one made of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any

import numpy as np

from ._checks import flag, reward_of, whole, whole_in
from ._errors import Error
from ._hilo import Errc
from .identity import fingerprint

# Largest number of times that a step is tried to find the reward of a given successor.
_TRIES = 16


class Source:
    """One simulator as the engine sees it. States and actions are numbers from 0 on."""

    num_states: int
    num_actions: int
    identity: str
    own_limit: int | None = None  # number of steps after which it truncates an episode itself

    def __init__(self, hold: int = 1) -> None:
        self.hold = whole_in(hold, "hold", 1, 1_000_000, Errc.spec)
        self.terminal: tuple[int, ...] = ()  # states that always end an episode
        self._rewards: dict[tuple[int, int, int], float] = {}

    def reset(self, seed: int) -> int:
        """Begins an episode and returns its first state."""
        raise NotImplementedError

    def put(self, state: int, seed: int) -> None:
        """Begins an episode at a given state."""
        raise NotImplementedError

    def single_step(self, action: int) -> tuple[int, float, bool, bool]:
        """One step of the simulator itself: see ``step``."""
        raise NotImplementedError

    def step(self, action: int) -> tuple[int, float, bool, bool]:
        """The next state, the reward, whether the episode ended, whether it was truncated.

        The action is held for ``hold`` steps of the simulator, or fewer where the episode is over;
        their rewards add up.
        """
        state, total, ended, cut = self.single_step(action)
        for _ in range(self.hold - 1):
            if ended or cut or state in self.terminal:
                break
            state, reward, ended, cut = self.single_step(action)
            total += reward
        return state, total, ended, cut

    def reward(self, state: int, action: int, following: int) -> float:
        """The reward of a step that may have been taken in the other fidelity.

        If no function gives it, the step is tried. The reward is that of the first try that leads
        to the successor, or the mean of all tries if none does. The tries have fixed seeds, so that
        the reward is a function of the arguments.
        """
        key = (state, action, following)
        if key not in self._rewards:
            tried = []
            for seed in range(_TRIES):
                self.put(state, seed)
                reached, value, _, _ = self.step(action)
                tried.append(float(value))
                if reached == following:
                    tried = tried[-1:]
                    break
            self._rewards[key] = sum(tried) / len(tried)
        return self._rewards[key]

    def set_terminal(self, terminal: Sequence[int] | None) -> None:
        """Checks and keeps the list of states that end an episode."""
        if terminal is None:
            return
        if isinstance(terminal, (str, bytes)) or not isinstance(terminal, (Iterable, Sized)):
            raise Error(
                f"terminal is {terminal!r}, but must be a list of states, such as [4]", Errc.spec
            )
        last = self.num_states - 1
        states = {whole_in(s, "a state of terminal", 0, last, Errc.spec) for s in terminal}
        self.terminal = tuple(sorted(states))

    def identify(self, given: str | None, name: str, *parts: Any) -> None:
        """Sets its identity in a store: the given one, or a hash of all that can be seen of it."""
        seen = (self.num_states, self.num_actions, *parts)
        seen += (("hold", self.hold),) if self.hold > 1 else ()
        seen += (("terminal", self.terminal),) if self.terminal else ()
        self.identity = given if given is not None else f"{name} {fingerprint(seen)}"


class FunctionSource(Source):
    """A simulator given by a function ``step(state, action, rng) -> (next, reward, done)``.

    ``rng`` is a numpy.random.Generator that belongs to the episode. A function that uses no other
    source of randomness gives the same results everywhere.
    """

    def __init__(
        self,
        step: Callable[[int, int, np.random.Generator], tuple[int, float, bool]],
        states: int,
        actions: int,
        start: int | Sequence[int] | Callable[[np.random.Generator], int],
        reward: Callable[[int, int, int], float] | None = None,
        identity: str | None = None,
        terminal: Sequence[int] | None = None,
        hold: int = 1,
    ) -> None:
        super().__init__(hold)
        self.num_states = whole(states, "states", Errc.spec)
        self.num_actions = whole(actions, "actions", Errc.spec)
        for count, what in ((self.num_states, "states"), (self.num_actions, "actions")):
            whole_in(count, f"number of {what}", 1, 1 << 30, Errc.spec)
        if not callable(start):
            if isinstance(start, (str, bytes)) or not isinstance(
                start, (int, np.integer, Iterable)
            ):
                raise Error(
                    f"start is {start!r}, but must be a state, a list of them or a function",
                    Errc.spec,
                )
            options = [start] if isinstance(start, (int, np.integer)) else list(start)
            if not options:
                raise Error("start is empty, but must be a state or a list of them", Errc.spec)
            last = self.num_states - 1
            start = [whole(s, "start", Errc.spec) for s in options]
            for s in start:
                whole_in(s, "the start state", 0, last, Errc.spec)
        self.set_terminal(terminal)
        self._step = step
        self._start = start
        self._reward = reward
        self._state = 0
        self._rng = np.random.default_rng(0)
        name = f"{getattr(step, '__module__', '?')}.{getattr(step, '__qualname__', '?')}"
        self.identify(identity, f"function {name}", step, start, reward)

    def reset(self, seed: int) -> int:
        self._rng = np.random.Generator(np.random.Philox(key=seed))
        if callable(self._start):
            self._state = whole(self._start(self._rng), "the start state")
        elif len(self._start) == 1:
            self._state = self._start[0]
        else:
            self._state = self._start[int(self._rng.integers(len(self._start)))]
        return self._state

    def put(self, state: int, seed: int) -> None:
        self._rng = np.random.Generator(np.random.Philox(key=seed))
        self._state = state

    def single_step(self, action: int) -> tuple[int, float, bool, bool]:
        out = self._step(self._state, action, self._rng)
        if not isinstance(out, tuple) or len(out) != 3:
            raise Error(
                f"state {self._state}, action {action}: step returned {out!r}, but must return "
                "(next, reward, done)",
                Errc.simulator,
            )
        self._state = whole(out[0], f"the state after ({self._state}, {action})")
        return self._state, reward_of(out[1]), flag(out[2], "done"), False

    def reward(self, state: int, action: int, following: int) -> float:
        if self._reward is not None:
            return float(self._reward(state, action, following))
        return super().reward(state, action, following)
