"""The control problems (docs/control.md) as Gymnasium environments, for other libraries to learn on.

``gymnasium.make("hilo/CartPole-v0")`` is the expensive simulator, ``fidelity="low"`` the cheap one;
parameters are those of ``hilo list problems`` with dots: ``**{"high.friction": 0.1}``. Observations
and actions are boxes. An episode is a function of the seed, and is cut after as many steps as in a
spec. ``reset(options={"state": [...]})`` starts an episode at a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle
from numpy.typing import NDArray

from ._checks import MAX_SEED, whole_in
from ._errors import Error
from ._hilo import ControlWalker, Errc

_SEEDS = 1 << 63
_Vector = NDArray[np.float64]


def _numbers(value: Any, what: str) -> list[float]:
    try:
        return [float(x) for x in np.asarray(value, dtype=np.float64).reshape(-1)]
    except (TypeError, ValueError):
        raise Error(f"{what} is {value!r}, but must be a list of numbers", Errc.usage) from None


def _box(bounds: tuple[list[float], list[float]]) -> gymnasium.spaces.Space[_Vector]:
    low, high = (np.asarray(end, dtype=np.float64) for end in bounds)
    box: gymnasium.spaces.Space[Any] = gymnasium.spaces.Box(low, high, dtype=np.float64)
    return box


class ControlEnv(gymnasium.Env[_Vector, _Vector], EzPickle):
    """A control problem of hilo, in its high or its low fidelity."""

    metadata: dict[str, Any] = {"render_modes": []}
    kind: ClassVar[str]
    angles: ClassVar[tuple[int, ...]]  # coordinates that live on a circle
    # It is recognised by its kind and its arguments.
    _hilo_derived = ("_walker", "_seeded")

    def __init__(
        self, *, fidelity: str = "high", render_mode: str | None = None, **parameters: Any
    ) -> None:
        EzPickle.__init__(self, fidelity=fidelity, render_mode=render_mode, **parameters)
        if not isinstance(fidelity, str) or fidelity not in ("high", "low"):
            raise Error(f"fidelity is {fidelity!r}, but must be 'high' or 'low'", Errc.spec)
        if render_mode is not None:
            raise Error(
                f"render_mode is {render_mode!r}, but this environment has no pictures", Errc.spec
            )
        self.render_mode = None
        self._walker = ControlWalker(self.kind, fidelity, **parameters)
        self.observation_space = _box(self._walker.observations)
        self.action_space = _box(self._walker.actions)
        self._seeded = False
        self._try_a_step()

    def _try_a_step(self) -> None:
        """What this interface cannot show, such as a delay, is refused here and not in the middle."""
        low, high = self._walker.actions
        self._walker.set_seed(0)
        self._walker.reset()
        self._walker.step([(a + b) / 2 for a, b in zip(low, high, strict=True)])
        self._walker.set_seed(0)  # no episode has begun

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Vector, dict[str, Any]]:
        if options is not None and not isinstance(options, Mapping):
            raise Error(
                f"options is {options!r}, but must be a dict, as {{'state': [...]}}", Errc.usage
            )
        seed = None if seed is None else whole_in(seed, "seed", 0, MAX_SEED)
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._walker.set_seed(int(self.np_random.integers(_SEEDS)) if seed is None else seed)
            self._seeded = True
        if options is not None and "state" in options:
            self._walker.reset_to(_numbers(options["state"], "state"))
        else:
            self._walker.reset()
        return np.array(self._walker.state), {}

    def step(self, action: _Vector) -> tuple[_Vector, float, bool, bool, dict[str, Any]]:
        reward = self._walker.step(_numbers(action, "action"))
        truncated = self._walker.steps >= self._walker.time_limit
        return np.array(self._walker.state), reward, False, truncated, {}

    @property
    def time_limit(self) -> int:
        """The number of steps after which an episode is cut."""
        return self._walker.time_limit

    def render(self) -> None:
        return None


class PendulumEnv(ControlEnv):
    """A pendulum with friction that shall stand upside down."""

    kind = "pendulum"
    angles = (0,)


class CartPoleEnv(ControlEnv):
    """A cart whose pole hangs at first and shall be swung up and balanced."""

    kind = "cart-pole"
    angles = (2,)


class AcrobotEnv(ControlEnv):
    """Two links with a torque between them, which shall stand upright."""

    kind = "acrobot"
    angles = (0, 1)
