"""Gymnasium environments as simulators."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import flag, reward_of, whole
from ._errors import Error
from ._hilo import Errc
from .grid import Grid
from .sources import Source


# If more than this share of steps stays in its cell, the grid is too coarse for one step.
_MOST_SELF_LOOPS = 0.5


class Cells:
    """Observations or actions of a Gymnasium space as numbers from 0 on."""

    def __init__(self, space: Any, grid: Grid | None, what: str, option: str) -> None:
        self.grid = grid
        self.first = 0
        self.what = what
        kind = type(space).__name__
        if grid is not None:
            dimensions = 1 if kind == "Discrete" else int(np.prod(space.shape))
            if dimensions != len(grid.bins):
                raise Error(
                    f"{option} has {len(grid.bins)} dimensions, but the {what} space {space} has "
                    f"{dimensions}",
                    Errc.spec,
                )
            self.size = grid.size
            self.shape = space.shape
            self.dtype = space.dtype
        elif kind == "Discrete":
            self.size = int(space.n)
            self.first = int(space.start)
        elif kind in ("Box", "MultiDiscrete"):
            raise Error(
                f"the {what} space is {space}; cut it into cells by "
                f"hilo.wrap(env, {option}=hilo.Grid.of(env.{what}_space, bins=...))",
                Errc.spec,
            )
        else:
            raise Error(
                f"the {what} space is {space}, but must be Discrete, or Box or MultiDiscrete with "
                f"{option}=; wrap the environment so that it has one of these",
                Errc.spec,
            )

    def index(self, value: Any) -> int:
        if self.grid is not None:
            return self.grid.index(value)
        if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iu":
            value = value.reshape(-1)[0]
        number = whole(value, f"the {self.what}")
        if not self.first <= number < self.first + self.size:
            raise Error(
                f"the {self.what} is {number}, but must be in [{self.first}, "
                f"{self.first + self.size - 1}]",
                Errc.simulator,
            )
        return number - self.first

    def value(self, index: int) -> Any:
        if self.grid is not None:
            return self._as_given(self.grid.centre(index))
        return self.first + index

    def drawn(self, index: int, seed: int) -> Any:
        """A value with this number; from a cell a uniform draw, as a function of the seed."""
        if self.grid is None:
            return self.value(index)
        # 53 bits of each word are used. The second half of the key separates these draws from the
        # simulator's own draws, which have the same seed.
        words = np.random.Philox(key=(1 << 64) + seed).random_raw(len(self.grid.bins))
        point = self._as_given(self.grid.point(index, (words >> np.uint64(11)) * 2.0**-53))
        # Rounding to the type of the space may move a point over the edge of its cell.
        return point if self.grid.index(point) == index else self.value(index)

    def _as_given(self, point: NDArray[np.float64]) -> Any:
        return point.reshape(self.shape).astype(self.dtype)


def _inner(env: Any) -> Any:
    return getattr(env, "unwrapped", env)


def _settle(env: Any) -> None:
    """Puts the environment into a state that does not depend on earlier use."""
    with contextlib.suppress(Exception):  # a failure is reported when a run meets it
        env.reset(seed=0)


class Codec:
    """Converts observations and actions to and from numbers. It does not need the environment."""

    def __init__(self, cells: Cells, moves: Cells, hold: int = 1) -> None:
        self._cells, self._moves = cells, moves
        self.hold = hold  # number of steps for which an action is held

    def state_of(self, observation: Any) -> int:
        """The state that an observation belongs to."""
        return self._cells.index(observation)

    def action_of(self, index: int) -> Any:
        """The action of the environment with this number."""
        return self._moves.value(index)


class GymnasiumSource(Source):
    """A Gymnasium environment as a simulator. hilo seeds every episode."""

    def __init__(
        self,
        env: Any,
        grid: Grid | None = None,
        action_grid: Grid | None = None,
        set_state: Callable[[Any, Any], Any] | None = None,
        reward: Callable[[int, int, int], float] | None = None,
        identity: str | None = None,
        terminal: Sequence[int] | None = None,
        hold: int = 1,
    ) -> None:
        super().__init__(hold)
        self.env = env
        self._cells = Cells(env.observation_space, grid, "observation", "grid")
        self._moves = Cells(env.action_space, action_grid, "action", "action_grid")
        self.num_states = self._cells.size
        self.num_actions = self._moves.size
        self.set_terminal(terminal)
        limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
        self.own_limit = None if limit is None else -(-limit // self.hold)
        self._set_state = set_state
        self._reward = reward
        self._running = env
        if identity is None:
            _settle(env)
        name = getattr(getattr(env, "spec", None), "id", type(_inner(env)).__qualname__)
        self.identify(identity, f"environment {name}", env, grid, action_grid, set_state, reward)

    def reset(self, seed: int) -> int:
        self._running = self.env
        return self._cells.index(self._pair(self.env.reset(seed=seed))[0])

    def put(self, state: int, seed: int) -> None:
        value = self._cells.drawn(state, seed)
        self._running = self.env
        if self._set_state is None:
            observation = self._pair(self.env.reset(seed=seed, options={"state": value}))[0]
            reached = self._cells.index(observation)
            if reached != state:
                raise Error(
                    f'reset(options={{"state": {value!r}}}) led to state {reached}, but must lead '
                    f"to state {state}",
                    Errc.simulator,
                )
            return
        self.env.reset(seed=seed)
        other = self._set_state(self.env, value)
        if other is not None:
            self._running = other

    def single_step(self, action: int) -> tuple[int, float, bool, bool]:
        out = self._running.step(self._moves.value(action))
        if not isinstance(out, tuple) or len(out) != 5:
            size = len(out) if isinstance(out, tuple) else type(out).__name__
            raise Error(
                f"step returned {size} things, but must return observation, reward, terminated, "
                "truncated and info (Gymnasium's API 1.x)",
                Errc.simulator,
            )
        observation, reward, terminated, truncated, _ = out
        return (
            self._cells.index(observation),
            reward_of(reward),
            flag(terminated, "terminated"),
            flag(truncated, "truncated"),
        )

    @staticmethod
    def _pair(out: Any) -> tuple[Any, Any]:
        if not isinstance(out, tuple) or len(out) != 2:
            raise Error(
                f"reset returned {out!r}, but must return (observation, info) (Gymnasium's API 1.x)",
                Errc.simulator,
            )
        return out

    def reward(self, state: int, action: int, following: int) -> float:
        if self._reward is not None:
            return float(self._reward(state, action, following))
        return super().reward(state, action, following)

    def check_can_be_put(self) -> None:
        """Raises unless the environment can be put into states that it has visited.

        Warns if most steps stay in the cell in which they started.
        """
        env = self.env
        try:
            seen = self._some_states()
            outcomes = {state: self._outcomes(state) for state in seen}
            if len(seen) > 1 and len(set(outcomes.values())) == 1:
                raise Error(
                    f"put into the states {seen} it takes the same steps from all of them; a "
                    "set_state must change env.unwrapped, not a wrapper around it",
                    Errc.spec,
                )
        except (Error, TypeError, ValueError, KeyError, AttributeError, AssertionError) as e:
            raise Error(
                f"{env} cannot be the low fidelity: roll-outs there start at states that the "
                "high fidelity has visited, and this environment cannot be put into a given state "
                f"({type(e).__name__}: {e}). Either let its "
                'reset(options={"state": s}) begin there; or pass hilo.wrap(env, set_state=f), '
                "where f(env, s) puts it there or returns a copy of it that is there; or give "
                "its table of transitions, hilo.from_table(P, start); of Gymnasium's toy-text "
                "environments it is known. As high fidelity it is fine as it is.",
                Errc.spec,
            ) from e
        if self._cells.grid is not None:
            self._warn_of_self_loops(self._some_states(most=100, steps=400))

    def _warn_of_self_loops(self, seen: list[int]) -> None:
        """Warns if cells are so wide that one step seldom leaves them."""
        tries = [(s, a) for s in seen for a in range(min(self.num_actions, 4))]
        stay = 0
        for seed, (state, action) in enumerate(tries):
            self.put(state, seed)
            following, _, ended, _ = self.step(action)
            stay += following == state and not ended
        if stay > _MOST_SELF_LOOPS * len(tries):
            warnings.warn(
                f"{self.env}: {stay} of {len(tries)} steps from cells that it visits stay in their "
                "cell, so that the cheap simulator says little of what an action does. Take more "
                "bins where a step is short, or hold every action for several steps: hold=k of "
                "hilo.wrap, in both simulators",
                stacklevel=2,
            )

    def _outcomes(self, state: int) -> tuple[tuple[int, float, bool, bool], ...]:
        out = []
        for action in range(min(self.num_actions, 4)):
            self.put(state, 0)
            out.append(self.step(action))
        return tuple(out)

    def _some_states(self, most: int = 5, steps: int = 50) -> list[int]:
        seen = [self.reset(0)]
        rng = np.random.default_rng(0)
        for _ in range(steps):
            state, _, terminated, truncated = self.step(int(rng.integers(self.num_actions)))
            if terminated or truncated:
                state = self.reset(int(rng.integers(1 << 30)))
            if state not in seen:
                seen.append(state)
        return seen[:most]

    @property
    def grid(self) -> Grid | None:
        """The grid that divides its observations into cells, if there is one."""
        return self._cells.grid

    @property
    def codec(self) -> Codec:
        """How its observations and actions are numbered."""
        return Codec(self._cells, self._moves, self.hold)
