"""Environments whose observations are vectors, without a grid: for agents such as "corrected"."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _hilo
from ._checks import flag, reward_of, text_of, whole_in
from ._errors import Error
from ._hilo import Errc
from .episodes import Extent, extent_of
from .identity import fingerprint
from .sides import _is_environment, _make_environment
from .wrapping import Wrapped, for_role, numbers_by_name

SetState = Callable[[Any, NDArray[np.float64]], Any]
VectorStep = Callable[..., tuple[Any, Any, Any]]


class NetworkPolicy:
    """A learnt policy that is a network. Call it with an observation to get the action.

    ``agent`` and ``seed`` say which run has learnt it. ``json`` is its text (docs/control.md).

    >>> action = policy(observation)                   # doctest: +SKIP
    """

    def __init__(self, text: str, agent: str, seed: int, judged_by: str | None = None) -> None:
        self.json = text
        self.agent = agent
        self.seed = seed
        self.judged_by = judged_by
        self._network = _hilo.Network(text)

    def __call__(self, observation: Any) -> Any:
        try:
            row = np.asarray(observation, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError, OverflowError):
            raise Error(f"an observation is {observation!r}, but must be numbers", Errc.usage) from None
        if not np.isfinite(row).all():
            raise Error(f"an observation is {observation!r}, but must be finite numbers", Errc.usage)
        action = self._network.act(row.tolist())
        return int(action[0]) if self._network.discrete else np.asarray(action)

    def __repr__(self) -> str:
        layers = json.loads(self.json)["layers"]
        count = sum(len(row) + 1 for layer in layers for row in layer["weights"])
        return f"NetworkPolicy({self.agent!r}, seed={self.seed}, weights={count})"

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.json, "agent": self.agent, "seed": self.seed, "judged_by": self.judged_by}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


class VectorSimulator:
    """A simulator that advances many states at once, on NumPy arrays.

    ``step(states, actions, noise) -> (next, reward, done)`` has a row for each state. Discrete
    actions are an array of whole numbers. ``noise`` has as many standard normal numbers for each
    state as the argument of that name says, so that the same random numbers can be used for many
    policies; ``step`` must draw none of its own. ``start(rng)`` gives a start state.
    ``observations`` and ``actions`` are Gymnasium spaces, lists of (low, high), or, for discrete
    actions, their number. ``angles`` are coordinates of observations that live on a circle, from
    -pi to pi. With ``parameters``, numbers by name, ``step`` gets a dict of them as its fourth
    argument, so that the agent "corrected" can fit them (its key ``tune``). It can be started in any state, so that it may be the cheap simulator. Searches call
    it millions of times for states that may lie far from all that are real.

    >>> def step(states, actions, noise):
    ...     speed = states[:, 1] + 0.1 * actions[:, 0]
    ...     place = states[:, 0] + 0.1 * speed
    ...     return np.stack([place, speed], axis=1), -place**2, np.zeros(len(states), bool)
    >>> VectorSimulator(step, start=lambda rng: [1.0, 0.0], observations=[(-9, 9)] * 2, actions=[(-1, 1)])
    VectorSimulator(step)
    """

    def __init__(
        self,
        step: VectorStep,
        *,
        start: Callable[[np.random.Generator], Any],
        observations: Any,
        actions: Any,
        noise: int = 0,
        parameters: Mapping[str, float] | None = None,
        angles: Sequence[int] = (),
        max_steps: int | None = None,
        identity: str | None = None,
    ) -> None:
        for what, function in (("step", step), ("start", start)):
            if not callable(function):
                raise Error(f"{what} is {function!r}, but must be a function", Errc.usage)
        self.step = step
        self.start = start
        self.observations = _extent_given(observations, "observations")
        self.actions = _extent_given(actions, "actions")
        if isinstance(self.observations, int):
            raise Error("observations must be a box, such as [(-1, 1), (0, 5)]", Errc.usage)
        if not isinstance(self.actions, int) and not np.isfinite(self.actions).all():
            raise Error(f"actions are {self.actions}, but must have bounds", Errc.usage)
        self.noise = whole_in(noise, "noise", 0, 1000)
        self.parameters = {} if parameters is None else numbers_by_name(parameters, "parameters")
        self.own_limit = None if max_steps is None else whole_in(max_steps, "max_steps", 1, 1_000_000)
        self.angles = _angles_given(angles, len(self.observations))
        self.name = getattr(step, "__qualname__", type(step).__qualname__)
        identity = None if identity is None else text_of(identity, "identity")
        # What it may do decides results as much as what it does.
        extent = fingerprint((self.observations, self.actions, self.noise, self.angles))
        own = identity or f"function {self.name} {fingerprint((step, start, parameters))}"
        self.identity = f"{own} {extent}"

    def __repr__(self) -> str:
        return f"VectorSimulator({self.name})"


class ArrayVectors:
    """A VectorSimulator as the engine sees it."""

    def __init__(self, of: VectorSimulator) -> None:
        self._of = of
        self.observations, self.actions = of.observations, of.actions
        self.noise, self.angles, self.own_limit = of.noise, of.angles, of.own_limit
        self.tunable = list(of.parameters)
        self.name, self.identity = of.name, of.identity
        self._state: NDArray[np.float64] = np.zeros(0)
        self._rng = np.random.default_rng(0)

    def reset(self, seed: int) -> list[float]:
        """Begins an episode."""
        self._rng = np.random.Generator(np.random.Philox(key=seed))
        self._state = np.asarray(self._of.start(self._rng), dtype=np.float64).reshape(-1)
        return self._state.tolist()

    def step(self, action: Any) -> tuple[list[float], float, bool, bool]:
        """One step from the current state."""
        row = np.asarray([[action]] if isinstance(action, int) else [list(action)], dtype=np.float64)
        noise = self._rng.standard_normal((self.noise, 1))
        following, reward, done = self.step_many(self._state[:, None], row.T, noise, [], [])
        self._state = following[:, 0]
        return self._state.tolist(), float(reward[0]), bool(done[0]), False

    def step_many(
        self, states: Any, actions: Any, noise: Any, names: list[str], values: list[float]
    ) -> tuple[Any, Any, Any]:
        """A step from many states, in arrays with a column for each of them."""
        numbers = {**self._of.parameters, **dict(zip(names, values, strict=True))}
        dimension, count = states.shape
        chosen = actions[0].astype(np.int64) if isinstance(self.actions, int) else actions.T
        with np.errstate(all="ignore"):
            out = self._of.step(states.T, chosen, noise.T, *([numbers] if numbers else []))
        if not isinstance(out, tuple) or len(out) != 3:
            raise Error(f"step returned {out!r}, but must return (next, reward, done)", Errc.simulator)
        following, reward, done = (np.asarray(part) for part in out)
        if following.shape != (count, dimension) or reward.shape != (count,) or done.shape != (count,):
            raise Error(
                f"step returned arrays of shapes {following.shape}, {reward.shape} and {done.shape} for "
                f"{count} {'state' if count == 1 else 'states'}, but must return ({count}, {dimension}), ({count},) "
                f"and ({count},)",
                Errc.simulator,
            )
        try:
            rows, rewards, ends = (np.ascontiguousarray(part, dtype=np.float64) for part in (following.T, reward, done))
        except (TypeError, ValueError) as e:
            raise Error(f"step returned what are no numbers: {e}", Errc.simulator) from None
        return rows, rewards, ends


def _extent_given(given: Any, what: str) -> Extent:
    if isinstance(given, (int, np.integer)):
        return whole_in(given, what, 1, 1 << 30)
    if hasattr(given, "sample") or hasattr(given, "low"):
        extent = extent_of(given)
        if extent is not None:
            return extent
    try:
        bounds = [(float(low), float(high)) for low, high in given]
    except (TypeError, ValueError, OverflowError):
        bounds = []
    if not bounds or not all(low <= high for low, high in bounds):
        raise Error(f"{what} is {given!r}, but must be a space, a number, or a list of (low, high)", Errc.usage)
    return bounds


def _angles_given(given: Any, dimension: int) -> list[int]:
    try:
        return sorted({whole_in(a, "an angle", 0, dimension - 1) for a in given})
    except TypeError:
        raise Error(f"angles is {given!r}, but must be a list of coordinates", Errc.usage) from None


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


def known_set_state(env: Any) -> SetState | None:
    """How to put an environment of Gymnasium into a state, if it is known."""
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
        self._set_state = set_state or known_set_state(env)
        self._set_parameters = set_parameters
        self._parameters = dict(parameters or {})
        spec = getattr(env, "spec", None)
        self.name = str(getattr(spec, "id", type(getattr(env, "unwrapped", env)).__qualname__))
        self.own_limit = getattr(spec, "max_episode_steps", None)
        observations, actions = extent_of(env.observation_space), extent_of(env.action_space)
        if observations is None or isinstance(observations, int):
            raise Error(f"{env}: its observations must be a Box", Errc.spec)
        if actions is None:
            raise Error(f"{env}: its actions must be a Box, or Discrete from 0", Errc.spec)
        if not isinstance(actions, int) and not all(np.isfinite(pair).all() for pair in actions):
            raise Error(f"{env}: its actions must have bounds", Errc.spec)
        self.observations, self.actions = observations, actions
        self.angles: list[int] = []
        self._low = np.array([pair[0] for pair in observations])
        self._high = np.array([pair[1] for pair in observations])
        self.identity = identity or f"environment {self.name} {fingerprint((env, set_state, set_parameters, parameters))}"

    def _row(self, observation: Any) -> list[float]:
        row = np.asarray(observation, dtype=np.float64).reshape(-1)
        # Rounding to single precision may leave a bound by its last digit.
        inside = np.clip(row, self._low, self._high)
        near = np.abs(inside - row) <= 1e-6 * (1 + np.abs(inside))
        whole: list[float] = np.where(near, inside, row).tolist()
        return whole

    def reset(self, seed: int) -> list[float]:
        """Begins an episode."""
        out = self.env.reset(seed=seed)
        if not isinstance(out, tuple) or len(out) != 2:
            raise Error(f"reset returned {out!r}, but must return (observation, info)", Errc.simulator)
        return self._row(out[0])

    def put(self, observation: Sequence[float], seed: int) -> None:
        """Begins an episode at a given observation."""
        assert self._set_state is not None
        self.env.reset(seed=seed)
        self._set_state(self.env, np.asarray(observation, dtype=np.float64))

    def step(self, action: Any) -> tuple[list[float], float, bool, bool]:
        """One step."""
        space = self.env.action_space
        if not isinstance(action, int):
            action = np.asarray(action, dtype=space.dtype).reshape(space.shape)
        out = self.env.step(action)
        if not isinstance(out, tuple) or len(out) != 5:
            raise Error(
                "step must return observation, reward, terminated, truncated and info (Gymnasium's API 1.x)",
                Errc.simulator,
            )
        return self._row(out[0]), reward_of(out[1]), flag(out[2], "terminated"), flag(out[3], "truncated")

    @property
    def tunable(self) -> list[str]:
        """Names of the numbers that can be changed."""
        return list(self._parameters)

    def tune(self, names: list[str], values: list[float]) -> None:
        """Sets some of these numbers, and the others to what they were."""
        if self._set_parameters is not None:
            self._set_parameters(self.env, {**self._parameters, **dict(zip(names, values, strict=True))})

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


VectorSide = EnvironmentVectors | ArrayVectors


def _make_side(thing: Any, role: str, options: dict[str, Any]) -> VectorSide:
    if isinstance(thing, Wrapped):
        return _make_side(thing.thing, role, {**options, **thing.options})
    if isinstance(thing, VectorSimulator):
        return ArrayVectors(thing)
    if isinstance(thing, str):
        thing = _make_environment(thing)
    if callable(thing) and not _is_environment(thing):
        return _make_side(thing(), role, options)
    known = ("set_state", "set_parameters", "parameters", "identity")
    for name in options:
        if name not in known:
            raise Error(
                f"{name} has no meaning for an environment whose observations are vectors without a grid", Errc.usage
            )
    chosen = {name: options[name] for name in known if name in for_role(options, role)}
    return EnvironmentVectors(thing, **chosen)


def is_of_vectors(thing: Any, options: dict[str, Any]) -> bool:
    """Whether a simulator is one of vectors: a Box of observations, and no grid that divides it."""
    if isinstance(thing, Wrapped):
        return is_of_vectors(thing.thing, {**options, **thing.options})
    if isinstance(thing, VectorSimulator):
        return True
    if options.get("grid") is not None or not hasattr(thing, "observation_space"):
        return False
    space = thing.observation_space
    return type(space).__name__ == "Box" and hasattr(thing, "step")


def make_vector_sides(
    high: Any, low: Any, options: dict[str, Any]
) -> tuple[_hilo.OwnProblem, list[VectorSide]]:
    """The problem of two simulators of vectors, and these."""
    sides = [_make_side(high, "high", options)]
    if low is not None:
        sides.append(_make_side(low, "low", options))
        if isinstance(sides[1], EnvironmentVectors):
            sides[1].check_can_be_put()
        for what in ("observations", "actions"):
            ours, theirs = getattr(sides[1], what), getattr(sides[0], what)
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
    own = _hilo.make_vector_problem(
        "python",
        sides[0],
        sides[1] if len(sides) > 1 else None,
        sides[0].observations,
        sides[0].actions,
        sides[-1].angles or sides[0].angles,
        sides[0].identity,
        sides[1].identity if len(sides) > 1 else "none",
    )
    return own, sides
