"""The problems that are part of hilo, as Gymnasium environments.

``import hilo`` registers them: ``gymnasium.make("hilo/Docking-v0")`` and
``gymnasium.make_vec("hilo/Docking-v0", num_envs=64)``. Observations and actions are Discrete. An
episode is a function of the seed: it uses the problem's own random streams and no global generator.
``reset(options={"state": s})`` starts an episode at a state, so that they can also be the low
fidelity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ._checks import MAX_SEED, array_of, whole_in
from ._errors import Error
from ._hilo import Errc, Problem, Simulator, Walker, Walkers, build_problem
from .pictures import draw_docking

_SEEDS = 1 << 63


def _simulator(
    kind: str, fidelity: str, problem_seed: int, parameters: dict[str, Any]
) -> Simulator:
    if not isinstance(fidelity, str) or fidelity not in ("high", "low"):
        raise Error(f"fidelity is {fidelity!r}, but must be 'high' or 'low'", Errc.spec)
    problem: Problem = build_problem(kind, problem_seed, **parameters)
    return problem.high if fidelity == "high" else problem.low


def _whole(value: Any, what: str) -> int:
    number = array_of(value, what, Errc.usage)
    if number.size != 1 or number.dtype.kind not in "iu":
        raise Error(f"{what} is {value!r}, but must be a whole number", Errc.usage)
    return int(number.reshape(-1)[0])


def _state_option(options: dict[str, Any] | None) -> int | None:
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise Error(f"options is {options!r}, but must be a dict, as {{'state': 3}}", Errc.usage)
    return None if "state" not in options else _whole(options["state"], "state")


class ProblemEnv(gymnasium.Env[np.int64, np.int64], EzPickle):
    """A problem of hilo, in its high or its low fidelity."""

    metadata: dict[str, Any] = {"render_modes": []}
    kind: ClassVar[str]
    # It is recognised by its kind and its arguments.
    _hilo_derived = ("simulator", "_walker", "_seeded")

    def __init__(
        self,
        *,
        fidelity: str = "high",
        problem_seed: int = 0,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        EzPickle.__init__(
            self,
            fidelity=fidelity,
            problem_seed=problem_seed,
            render_mode=render_mode,
            **parameters,
        )
        self._fidelity, self._parameters = fidelity, parameters
        self.simulator = _simulator(self.kind, fidelity, problem_seed, parameters)
        self.observation_space = gymnasium.spaces.Discrete(self.simulator.num_states)
        self.action_space = gymnasium.spaces.Discrete(self.simulator.num_actions)
        if render_mode is not None and (
            not isinstance(render_mode, str) or render_mode not in self.metadata["render_modes"]
        ):
            raise Error(
                f"render_mode is {render_mode!r}, but must be one of "
                f"{self.metadata['render_modes']} or None",
                Errc.spec,
            )
        self.render_mode = render_mode
        self._walker = Walker(self.simulator)
        self._seeded = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        state = _state_option(options)
        seed = None if seed is None else whole_in(seed, "seed", 0, MAX_SEED)
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._walker.set_seed(int(self.np_random.integers(_SEEDS)) if seed is None else seed)
            self._seeded = True
        if state is None:
            self._walker.reset()
        else:
            self._walker.reset_to(state)
        return np.int64(self._walker.state), {}

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        following, reward, done = self._walker.step(_whole(action, "action"))
        return np.int64(following), reward, done, False, {}

    def render(self) -> Any:
        return None


class RandomMdpEnv(ProblemEnv):
    """The paper's random MDP, or its degraded twin (``fidelity="low"``, ``snr_db``)."""

    kind = "random-mdp"


class NasBench201Env(ProblemEnv):
    """Architecture search in NAS-Bench-201 (``table="accuracies.csv"``; docs/nas.md).

    Without a table it is a stand-in, a formula that says nothing about neural networks.
    """

    kind = "nas-bench-201"


class DockingEnv(ProblemEnv):
    """A vehicle that shall dock gently (docs/docking.md), with a picture."""

    kind = "docking"
    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}

    def render(self) -> NDArray[np.uint8] | None:
        if self.render_mode != "rgb_array":
            return None
        cells, speeds = self._parameters.get("cells", 10), self._parameters.get("speeds", 3)
        if self._fidelity == "low":
            cells = (cells + 1) // 2  # docs/docking.md
        return draw_docking(cells, speeds, self._walker.state)


class ProblemVectorEnv(
    gymnasium.vector.VectorEnv[NDArray[np.int64], NDArray[np.int64], Any], EzPickle
):
    """Many copies of a problem. One call takes one step in each of them.

    The autoreset mode is NEXT_STEP: the step after the end of an episode ignores its action, gives
    reward 0 and starts the next episode. After ``reset(seed=s)``, copy i takes the same steps as a
    single environment after ``reset(seed=s + i)``.
    """

    metadata: dict[str, Any] = {
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    kind: ClassVar[str]

    def __init__(
        self,
        num_envs: int = 1,
        *,
        fidelity: str = "high",
        problem_seed: int = 0,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        EzPickle.__init__(
            self, num_envs, fidelity=fidelity, problem_seed=problem_seed, **parameters
        )
        self.simulator = _simulator(self.kind, fidelity, problem_seed, parameters)
        num_envs = whole_in(num_envs, "num_envs", 1, 1 << 20, Errc.spec)
        self.num_envs = num_envs
        self.single_observation_space = gymnasium.spaces.Discrete(self.simulator.num_states)
        self.single_action_space = gymnasium.spaces.Discrete(self.simulator.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        if render_mode is not None:
            raise Error("vector environments of hilo have no picture", Errc.spec)
        self.render_mode = None
        self._walkers = Walkers(self.simulator, num_envs)
        self._ended: NDArray[np.uint8] = np.zeros(num_envs, dtype=np.uint8)
        self._states: NDArray[np.int64] = np.zeros(num_envs, dtype=np.int64)
        self._seeded = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        state = _state_option(options)
        last = MAX_SEED - self.num_envs
        if seed is None or isinstance(seed, (int, np.integer)):
            first = None if seed is None else whole_in(seed, "seed", 0, last)
            super().reset(seed=first)
            seeds: list[int | None] = [
                None if first is None else first + i for i in range(self.num_envs)
            ]
        else:
            if isinstance(seed, (str, bytes)) or not isinstance(seed, (Sequence, np.ndarray)):
                raise Error(
                    f"seed is {seed!r}, but must be a whole number or a list of them", Errc.usage
                )
            seeds = [None if s is None else whole_in(s, "a seed", 0, MAX_SEED) for s in seed]
            if len(seeds) != self.num_envs:
                raise Error(
                    f"{len(seeds)} seeds were given for {self.num_envs} environments", Errc.usage
                )
        mask: NDArray[np.bool_] = np.ones(self.num_envs, dtype=bool)
        if options is not None and "reset_mask" in options:
            mask = array_of(options["reset_mask"], "reset_mask", Errc.usage).astype(bool)
            if mask.shape != (self.num_envs,):
                raise Error(f"reset_mask must have shape ({self.num_envs},)", Errc.usage)
        for i in np.nonzero(mask)[0].tolist():
            own = seeds[i]
            if own is not None or not self._seeded:
                self._walkers.set_seed(
                    i, int(self.np_random.integers(_SEEDS)) if own is None else own
                )
            if state is None:
                self._states[i] = self._walkers.reset(i)
            else:
                self._walkers.reset_to(i, state)
                self._states[i] = state
            self._ended[i] = 0
        self._seeded = True
        return self._states.copy(), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[
        NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
    ]:
        begins = self._ended
        given = array_of(actions, "actions", Errc.usage)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise Error(
                f"actions is {actions!r}, but must be {self.num_envs} whole numbers", Errc.usage
            )
        given = np.ascontiguousarray(given, dtype=np.int64)
        states, rewards, ended = self._walkers.step(given, begins)
        self._states = states.copy()
        for i in np.nonzero(begins)[0].tolist():
            self._states[i] = self._walkers.reset(i)
        self._ended = ended.copy()
        never = np.zeros(self.num_envs, dtype=np.bool_)
        return self._states.copy(), rewards.copy(), ended.astype(np.bool_), never, {}


class RandomMdpVectorEnv(ProblemVectorEnv):
    """Many random MDPs at once."""

    kind = "random-mdp"


class NasBench201VectorEnv(ProblemVectorEnv):
    """Many architecture searches at once."""

    kind = "nas-bench-201"


class DockingVectorEnv(ProblemVectorEnv):
    """Many vehicles at once."""

    kind = "docking"
