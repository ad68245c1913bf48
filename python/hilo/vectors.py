"""Environments whose observations are vectors, without a grid: for agents such as "corrected"."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _hilo
from ._errors import Error
from ._hilo import EpisodeSimulator, Errc, Problem, TabularMdp
from .boxes import ActionForm, BoxSteps, Extent, refuse_whole_numbers
from .identity import fingerprint
from .network import NetworkPolicy as NetworkPolicy  # where older pickles look for it
from .programs import HIGH_ONLY, OF_CELLS, Program
from .things import inner_of, is_control, is_environment, no_simulator
from .vector_simulator import ArrayVectors, VectorSimulator
from .wrapping import Wrapped, for_role, refuse_low_only

SetState = Callable[[Any, NDArray[np.float64]], Any]


def _angle(cosine: float, sine: float) -> float:
    return float(np.arctan2(sine, cosine))


def _put_pendulum(env: Any, row: NDArray[np.float64]) -> None:
    env.unwrapped.state = np.array([_angle(row[0], row[1]), row[2]])


def _put_acrobot(env: Any, row: NDArray[np.float64]) -> None:
    env.unwrapped.state = np.array([_angle(row[0], row[1]), _angle(row[2], row[3]), row[4], row[5]])


def _put_state(env: Any, row: NDArray[np.float64]) -> None:
    inner = env.unwrapped
    inner.state = tuple(row) if isinstance(inner.state, tuple) else np.array(row)


def _put_mujoco(env: Any, row: NDArray[np.float64]) -> None:
    """Observations are positions, but for the first ones, and velocities."""
    inner = env.unwrapped
    positions, velocities = inner.model.nq, inner.model.nv
    hidden = positions + velocities - len(row)
    if not 0 <= hidden <= 2:
        raise Error(
            f"the observation has {len(row)} numbers, but the state {positions} positions and {velocities} velocities",
            Errc.spec,
        )
    place = np.concatenate([np.zeros(hidden), row[: positions - hidden]])
    inner.set_state(place, row[positions - hidden :])


def _put_control(env: Any, row: NDArray[np.float64]) -> None:
    env.reset(options={"state": row})


def known_set_state(env: Any) -> SetState | None:
    """How to put an environment of Gymnasium, or of hilo, into a state, if it is known."""
    if is_control(env):
        return _put_control
    inner = env.unwrapped
    name = type(inner).__name__
    module = type(inner).__module__
    if name == "PendulumEnv":
        return _put_pendulum
    if name == "AcrobotEnv":
        return _put_acrobot
    if any("classic_control" in kind.__module__ for kind in type(inner).__mro__):
        return _put_state
    if hasattr(inner, "set_state") and hasattr(inner, "model") and "mujoco" in module:
        return _put_mujoco
    return None


class EnvironmentVectors:
    """A Gymnasium environment as the engine sees it, in its own observations and actions."""

    def __init__(
        self,
        env: Any,
        set_state: SetState | None = None,
        set_parameters: Callable[[Any, dict[str, float]], Any] | None = None,
        parameters: dict[str, float] | None = None,
        identity: str | None = None,
    ) -> None:
        self.env = env
        self._steps = BoxSteps(env)
        self._set_state = set_state or known_set_state(env)
        self._set_parameters = set_parameters
        self._parameters = dict(parameters or {})
        self._tuned: dict[str, float] | None = None
        self.name, self.own_limit, self.form = self._steps.name, self._steps.own_limit, self._steps.form
        observations, actions = self._steps.observations, self._steps.actions
        if observations is None or isinstance(observations, int):
            raise Error(f"{env}: its observations must be a Box", Errc.spec)
        if actions is None:
            raise Error(f"{env}: its actions must be a Box, or Discrete from 0", Errc.spec)
        refuse_whole_numbers(env.action_space, str(env))
        if not isinstance(actions, int) and not all(np.isfinite(pair).all() for pair in actions):
            raise Error(f"{env}: its actions must have bounds", Errc.spec)
        self.observations, self.actions = observations, actions
        self.angles: list[int] | None = list(inner_of(env).angles) if is_control(env) else None  # None: unknown
        self._low = np.array([pair[0] for pair in observations])
        self._high = np.array([pair[1] for pair in observations])
        seen = (env, set_state, set_parameters, parameters)
        self.identity = identity or f"environment {self.name} {fingerprint(seen)}"

    def _row(self, observation: Any) -> list[float]:
        row = self._steps.row(observation)
        # Rounding to single precision may leave a bound by its last digit.
        inside = np.clip(row, self._low, self._high)
        near = np.abs(inside - row) <= 1e-6 * (1 + np.abs(inside))
        whole: list[float] = np.where(near, inside, row).tolist()
        return whole

    def reset(self, seed: int) -> list[float]:
        """Begins an episode."""
        return self._row(self._steps.reset(seed))

    def put(self, observation: Sequence[float], seed: int) -> None:
        """Begins an episode at a given observation."""
        assert self._set_state is not None
        running = self._steps.put(self._set_state, np.asarray(observation, dtype=np.float64), seed)
        if running is not self.env and self._tuned is not None and self._set_parameters is not None:
            self._set_parameters(running, dict(self._tuned))  # it may have been made anew

    def step(self, action: Any) -> tuple[list[float], float, bool, bool]:
        """One step."""
        observation, reward, ended, cut = self._steps.step(self._steps.shaped(action))
        return self._row(observation), reward, ended, cut

    @property
    def tunable(self) -> list[str]:
        """Names of the numbers that can be changed."""
        return list(self._parameters)

    def tune(self, names: list[str], values: list[float]) -> None:
        """Sets some of these numbers, and the others to what they were."""
        if self._set_parameters is not None:
            self._tuned = {**self._parameters, **dict(zip(names, values, strict=True))}
            self._set_parameters(self.env, dict(self._tuned))

    def check_can_be_put(self) -> None:
        """Raises unless the environment, put where it was, goes on as it went on there."""
        if self._set_state is None:
            raise Error(
                f"{self.env} cannot be the cheap simulator: it must be started where the expensive one was, and "
                "hilo does not know how. Pass hilo.wrap(env, set_state=f), where f(env, observation) puts it there, "
                "or hilo.VectorSimulator(step=...). As expensive simulator it is fine as it is.",
                Errc.spec,
            )
        rng = np.random.default_rng(0)
        for trial in range(3):
            row = self.reset(trial)
            taken = None
            for _ in range(5):
                before, action = row, self._random_action(rng)
                row, reward, ended, cut = self.step(action)
                taken = (before, action, row, reward, ended)
                if ended or cut:
                    break
            assert taken is not None
            before, action, following, reward, ended = taken
            # The same step again, from the observation alone.
            self.put(before, trial)
            again, reward_again, ended_again, _ = self.step(action)
            spread = 1 + np.abs(np.asarray(following))
            wrong = np.abs(np.asarray(again) - np.asarray(following)) > 1e-3 * spread
            differs = [f"coordinate {int(i)}" for i in np.flatnonzero(wrong)]
            if abs(reward_again - reward) > 1e-3 * (1 + abs(reward)):
                differs.append("the reward")
            if ended_again != ended:
                differs.append("the end of the episode")
            if differs:
                raise Error(
                    f"{self.env} cannot be the cheap simulator: put where it was, it does not go on as it did "
                    f"({', '.join(differs)} differ). Either set_state is wrong, or its observation is not its "
                    "whole state, or it draws random numbers in its steps",
                    Errc.spec,
                )

    def _random_action(self, rng: np.random.Generator) -> Any:
        if isinstance(self.actions, int):
            return int(rng.integers(self.actions))
        return [float(rng.uniform(low, high)) for low, high in self.actions]

    def __repr__(self) -> str:
        return f"EnvironmentVectors({self.env})"


class ProgramVectors:
    """A program as the engine sees it, where the other simulator is in Python."""

    form: ActionForm | None = None
    own_limit: int | None = None

    def __init__(self, program: Program) -> None:
        self.program = program
        self.options = {key: value for key, value in program.options.items() if key not in HIGH_ONLY}
        self.name = program.command
        self.angles = None if program.angles is None else list(program.angles)
        self.identity = f"program {_hilo.program_identity(self.options)}"
        self._seen: list[float] = []
        self._over = False

    @functools.cached_property
    def _steps(self) -> _hilo.ProgramSteps:
        return _hilo.ProgramSteps(self.options)

    @property
    def observations(self) -> list[tuple[float, float]]:
        extent = self._steps.observations
        if isinstance(extent, int):
            raise Error(f"the program '{self.name}': its observations must be vectors, but are numbered", Errc.spec)
        return extent

    @property
    def actions(self) -> Extent:
        return self._steps.actions

    def check_can_be_put(self) -> None:
        """Raises unless the program can be started at an observation."""
        if not self._steps.starts_anywhere:
            raise Error(
                f"the program '{self.name}' cannot be the cheap simulator: it must be started where the expensive one "
                'was, but does not know the request "start" (docs/programs.md)',
                Errc.spec,
            )

    def reset(self, seed: int) -> list[float]:
        """Begins an episode."""
        self._over = False
        self._seen = self._steps.reset(seed)
        return self._seen

    def put(self, observation: Sequence[float], seed: int) -> None:
        """Begins an episode at a given observation."""
        self._seen = [float(x) for x in observation]
        self._over = self._steps.put(self._seen, seed)

    def step(self, action: Any) -> tuple[list[float], float, bool, bool, float | None]:
        """One step, with its cost if the program reports one. From a terminal state it leads nowhere."""
        if self._over:
            return self._seen, 0.0, True, False, None
        seen, reward, ended, cut, cost = self._steps.step([action] if isinstance(action, int) else list(action))
        self._seen = seen
        return seen, reward, ended, cut, cost


VectorSide = EnvironmentVectors | ArrayVectors | ProgramVectors

_OF_ENVIRONMENTS = ("set_state", "set_parameters", "parameters", "identity")


def _make_side(thing: Any, role: str, options: dict[str, Any]) -> VectorSide:
    """Makes one side of what things.resolve has found. ``options`` are those for the whole call."""
    own: dict[str, Any] = {}
    if isinstance(thing, Wrapped):
        thing, own = thing.thing, thing.options
    if role == "high":
        refuse_low_only({**options, **own}, thing)
    options = {**options, **own}
    if isinstance(thing, VectorSimulator):
        _refuse_others(options, ("identity",), f"{thing!r}, which says it all itself")
        return ArrayVectors(thing, **options)
    if isinstance(thing, Program):
        _refuse_others(options, (), f"the program '{thing.command}': give it to hilo.program")
        cells = [key for key in OF_CELLS if key in thing.options]
        if cells:
            raise Error(
                f"the program '{thing.command}' has {', '.join(cells)}, which is for cells, but the states of the "
                "other simulator are vectors",
                Errc.usage,
            )
        return ProgramVectors(thing)
    if is_environment(thing):
        _refuse_others(options, _OF_ENVIRONMENTS, "an environment whose observations are vectors without a grid")
        return EnvironmentVectors(thing, **options)
    if callable(thing) or isinstance(thing, (Problem, TabularMdp, EpisodeSimulator)):
        raise Error(
            f"{thing!r:.200} has numbered states, but those of the other simulator are vectors: give a Gymnasium "
            "environment with a Box of observations, or hilo.VectorSimulator(step, ...), whose step advances rows of "
            "an array",
            Errc.usage,
        )
    raise no_simulator(thing)


def _refuse_others(options: dict[str, Any], known: Sequence[str], what: str) -> None:
    others = sorted(set(options) - set(known))
    if others:
        raise Error(f"{', '.join(others)} has no meaning for {what}", Errc.usage)


def is_of_vectors(thing: Any, options: dict[str, Any]) -> bool:
    """Whether what things.resolve has found is a simulator of vectors: a Box of observations, and no
    grid that divides it."""
    if isinstance(thing, Wrapped):
        return is_of_vectors(thing.thing, {**options, **thing.options})
    if isinstance(thing, VectorSimulator):
        return True
    if isinstance(thing, Program):
        return thing.vectors
    if options.get("grid") is not None or not is_environment(thing):
        return False
    return type(thing.observation_space).__name__ == "Box"


def are_of_vectors(high: Any, low: Any, options: dict[str, Any]) -> bool:
    """Whether a pair is one of vectors. A program need not say it again if the other side does."""
    if is_of_vectors(high, options):
        return True
    inner = high.thing if isinstance(high, Wrapped) else high
    may_be = isinstance(inner, Program) and "grid" not in inner.options
    return may_be and low is not None and is_of_vectors(low, options)


def share_environment(sides: Sequence[VectorSide]) -> bool:
    """Whether both sides are one environment, which can do one thing at a time."""
    found = [inner_of(side.env) for side in sides if isinstance(side, EnvironmentVectors)]
    return len(found) == 2 and found[0] is found[1]


def make_vector_sides(
    high: Any, low: Any, options: dict[str, Any]
) -> tuple[dict[str, Any], _hilo.OwnProblem | None, list[VectorSide]]:
    """The problem of two simulators of vectors, as a spec has it and in memory, and the simulators."""
    sides = [_make_side(high, "high", options if low is None else for_role(options, "high"))]
    if low is not None:
        sides.append(_make_side(low, "low", options))
    angles = _angles_of(sides)
    programs = [side for side in sides if isinstance(side, ProgramVectors)]
    if len(programs) == len(sides):
        return _problem_of_programs(programs, angles), None, sides
    if len(sides) > 1:
        _refuse_tuning_of_both(sides[0], sides[1])
        if not isinstance(sides[1], ArrayVectors):
            sides[1].check_can_be_put()
        _require_same_spaces(sides[0], sides[1])
    own = _hilo.make_vector_problem(
        "python",
        sides[0],
        sides[1] if len(sides) > 1 else None,
        sides[0].observations,
        sides[0].actions,
        angles,
        sides[0].identity,
        sides[1].identity if len(sides) > 1 else "none",
    )
    return {"kind": own.name}, own, sides


def _problem_of_programs(sides: Sequence[ProgramVectors], angles: list[int]) -> dict[str, Any]:
    """What a spec says of programs: the engine then runs them itself, and knows what they say that they cost."""
    high, *lows = sides
    problem = {"kind": "program", "vectors": True, **{f"high.{k}": v for k, v in high.program.options.items()}}
    for low in lows:
        problem.update({f"low.{k}": v for k, v in low.options.items()})
    if angles:
        problem["angles"] = ", ".join(map(str, angles))
    return problem


def _angles_of(sides: Sequence[VectorSide]) -> list[int]:
    """The angles that the simulators say; those that say nothing have the same."""
    said = [side.angles for side in sides if side.angles is not None]
    if len(said) == 2 and said[0] != said[1]:
        raise Error(
            f"the angles of the cheap simulator are {said[1]}, but those of the expensive one {said[0]}: both must say "
            "the same, as their observations mean the same",
            Errc.usage,
        )
    return said[0] if said else []


def _refuse_tuning_of_both(high: VectorSide, low: VectorSide) -> None:
    if isinstance(low, EnvironmentVectors) and low.tunable and share_environment([high, low]):
        raise Error(
            f"the expensive and the cheap simulator are one environment, {low.env}, but set_parameters is given, which "
            "would change the expensive one as well: make a second environment",
            Errc.usage,
        )


def _require_same_spaces(high: VectorSide, low: VectorSide) -> None:
    for what in ("observations", "actions"):
        ours, theirs = getattr(low, what), getattr(high, what)
        same = (isinstance(ours, int) == isinstance(theirs, int)) and (
            ours == theirs if isinstance(ours, int) else len(ours) == len(theirs)
        )
        if same and what == "actions" and not isinstance(ours, int):
            same = np.allclose(ours, theirs)
        if not same:
            raise Error(
                f"the {what} of the cheap simulator are {ours}, but those of the expensive one {theirs}: "
                "they must be the same",
                Errc.usage,
            )
