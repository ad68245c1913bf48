"""Gymnasium environments in their own spaces, without cells: for learning and for evaluations alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import array_of, flag, reward_of
from ._errors import Error
from ._hilo import Errc
from .things import inner_of, is_control, is_environment

# A space as the engine describes it: a number of elements, or bounds of a box.
Extent = int | list[tuple[float, float]]


def extent_of(space: Any) -> Extent | None:
    kind = type(space).__name__
    if kind == "Discrete" and int(space.start) == 0:
        return int(space.n)
    if kind == "Box":
        low = np.asarray(space.low, dtype=np.float64).reshape(-1)
        high = np.asarray(space.high, dtype=np.float64).reshape(-1)
        return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
    return None


def real_numbers(values: Any, what: str) -> NDArray[np.float64]:
    """An answer of a simulator as numbers, which may be infinite. NumPy would make numbers of texts,
    and drop the imaginary part of complex ones."""
    array = array_of(values, what, Errc.simulator)
    if array.dtype.kind not in "biuf":
        raise Error(f"{what} is {values!r:.200} of dtype {array.dtype}, but must be real numbers", Errc.simulator)
    return array.astype(np.float64)


def refuse_whole_numbers(space: Any, where: str) -> None:
    """Refuses a box of whole numbers as actions: networks give any number between two bounds, so that
    a journal would have other actions than the environment."""
    if type(space).__name__ == "Box" and np.issubdtype(space.dtype, np.integer):
        choices = int(np.prod(space.high.astype(np.int64) - space.low.astype(np.int64) + 1))
        raise Error(
            f"{where}: its actions are {space}, which has whole numbers alone, but a network gives any number "
            f"between the bounds. Make them gymnasium.spaces.Discrete({choices}), by a wrapper that says what each "
            "number stands for, or a Box of floating-point numbers if what lies between makes sense",
            Errc.spec,
        )


@dataclass(frozen=True)
class ActionForm:
    """The shape and the type of the actions of a box."""

    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, space: Any) -> ActionForm | None:
        """None if the space is no box."""
        if type(space).__name__ != "Box":
            return None
        return cls(tuple(int(n) for n in space.shape), np.dtype(space.dtype).str)

    def __call__(self, numbers: Any) -> NDArray[Any]:
        return np.asarray(numbers).astype(self.dtype).reshape(self.shape)


class BoxSteps:
    """A Gymnasium environment whose answers are compared with its spaces, one step at a time."""

    def __init__(self, env: Any) -> None:
        if hasattr(env, "single_observation_space"):
            raise Error(f"{env} is many environments at once, but must be one: gymnasium.make makes it", Errc.usage)
        self.env = env
        self._running = env  # or the copy of it that is in the state that was asked for
        spec = getattr(env, "spec", None)
        self.name = str(getattr(spec, "id", type(getattr(env, "unwrapped", env)).__qualname__))
        self.own_limit: int | None = getattr(spec, "max_episode_steps", None)
        if self.own_limit is None and is_control(env):
            self.own_limit = inner_of(env).time_limit
        self.observations = extent_of(env.observation_space)
        self.actions = extent_of(env.action_space)
        self.form = ActionForm.of(env.action_space)

    def reset(self, seed: int) -> Any:
        """Begins an episode and returns the first observation."""
        self._running = self.env
        out = self.env.reset(seed=seed)
        if not isinstance(out, tuple) or len(out) != 2:
            raise Error(f"reset returned {out!r:.200}, but must return (observation, info)", Errc.simulator)
        return out[0]

    def put(self, set_state: Callable[[Any, Any], Any], observation: Any, seed: int) -> Any:
        """Begins an episode at an observation. Returns the environment that is there."""
        self.env.reset(seed=seed)
        other = set_state(self.env, observation)
        # It may also return what reset returned, which is no environment.
        self._running = other if is_environment(other) else self.env
        return self._running

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        """The observation, the reward, whether the episode ended, whether it was cut."""
        out = self._running.step(action)
        if not isinstance(out, tuple) or len(out) != 5:
            raise Error(
                "step must return observation, reward, terminated, truncated and info (Gymnasium's API 1.x)",
                Errc.simulator,
            )
        return out[0], reward_of(out[1]), flag(out[2], "terminated"), flag(out[3], "truncated")

    def row(self, observation: Any) -> NDArray[np.float64]:
        """The numbers of an observation."""
        space = self.env.observation_space
        if isinstance(observation, (dict, tuple)) and type(space).__name__ in ("Dict", "Tuple"):
            import gymnasium

            observation = gymnasium.spaces.flatten(space, observation)
        numbers = real_numbers(observation, "the observation")
        # NumPy would stretch one number over all coordinates.
        if type(space).__name__ == "Box" and not _same_shape(numbers.shape, space.shape):
            raise Error(
                f"the observation {observation!r:.200} has the shape {numbers.shape}, but the observation space "
                f"{space} has the shape {space.shape}",
                Errc.simulator,
            )
        return numbers.reshape(-1)

    def action_row(self, action: Any) -> NDArray[np.float64]:
        """The numbers of an action."""
        if isinstance(action, (dict, tuple)) and type(self.env.action_space).__name__ in ("Dict", "Tuple"):
            import gymnasium

            action = gymnasium.spaces.flatten(self.env.action_space, action)
        return np.asarray(action, dtype=np.float64).reshape(-1)

    def shaped(self, action: Any) -> Any:
        """An action of a box as the space has it, in shape and type. Others are what they are."""
        if self.form is None:
            return action
        if np.issubdtype(self.form.dtype, np.integer) and not np.array_equal(action, np.trunc(action)):
            raise Error(
                f"the policy gave the action {action!r}, but {self.env.action_space} has whole numbers alone",
                Errc.usage,
            )
        return self.form(action)


def _same_shape(ours: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Dimensions of one number do not change what the others mean."""
    return [n for n in ours if n != 1] == [n for n in theirs if n != 1]
