"""hilo.VectorSimulator: a simulator of the user that advances many states at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import array_of, text_of, whole_in
from ._errors import Error
from ._hilo import Errc
from .boxes import ActionForm, Extent, extent_of, real_numbers, refuse_whole_numbers
from .identity import fingerprint
from .wrapping import numbers_by_name

VectorStep = Callable[..., tuple[Any, Any, Any]]


class VectorSimulator:
    """A simulator that advances many states at once, on NumPy arrays.

    ``step(states, actions, noise) -> (next, reward, done)`` has a row for each state. Discrete
    actions are an array of whole numbers. ``noise`` has as many standard normal numbers for each
    state as the argument of that name says, so that the same random numbers can be used for many
    policies; ``step`` must draw none of its own. ``start(rng)`` gives a start state.
    ``observations`` and ``actions`` are Gymnasium spaces, lists of (low, high), or, for discrete
    actions, their number. ``angles`` are coordinates of observations that live on a circle, from
    -pi to pi. With ``parameters``, numbers by name, ``step`` gets a dict of them as its fourth
    argument, so that the agent "corrected" can fit them (its key ``tune``). It can be started in any
    state, so that it may be the cheap simulator. Searches call it millions of times for states that may
    lie far from all that are real. ``identity`` stands for it in a journal or a store, instead of the
    code and what it holds.

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
        refuse_whole_numbers(actions, f"VectorSimulator {_name_of(step)}")
        if not isinstance(self.actions, int) and not np.isfinite(self.actions).all():
            raise Error(f"actions are {self.actions}, but must have bounds", Errc.usage)
        self.noise = whole_in(noise, "noise", 0, 1000)
        self.parameters = {} if parameters is None else numbers_by_name(parameters, "parameters")
        self.own_limit = None if max_steps is None else whole_in(max_steps, "max_steps", 1, 1_000_000)
        self.angles = _angles_given(angles, len(self.observations))
        self.name = _name_of(step)
        self.given_identity = None if identity is None else text_of(identity, "identity")
        # What it may do decides results as much as what it does.
        self.extent = fingerprint((self.observations, self.actions, self.noise, self.angles))

    def __repr__(self) -> str:
        return f"VectorSimulator({self.name})"


class ArrayVectors:
    """A VectorSimulator as the engine sees it."""

    form: ActionForm | None = None  # actions are rows

    def __init__(self, of: VectorSimulator, identity: str | None = None) -> None:
        self._of = of
        self.observations, self.actions = of.observations, of.actions
        self.noise, self.own_limit = of.noise, of.own_limit
        self.angles: list[int] | None = of.angles
        self.tunable = list(of.parameters)
        self.name = of.name
        # Its code is hashed here and not where it was made: whether what cannot be hashed is an error depends on what
        # it is used for.
        given = identity or of.given_identity
        own = given or f"function {of.name} {fingerprint((of.step, of.start, of.parameters or None))}"
        self.identity = f"{own} {of.extent}"
        self._state: NDArray[np.float64] = np.zeros(0)
        self._rng = np.random.default_rng(0)

    def reset(self, seed: int) -> list[float]:
        """Begins an episode."""
        self._rng = np.random.Generator(np.random.Philox(key=seed))
        given = self._of.start(self._rng)
        state = real_numbers(given, "the start state").reshape(-1)
        if len(state) != len(self._dimensions):
            raise Error(
                f"the start state is {given!r:.200}, but must have {len(self._dimensions)} numbers", Errc.simulator
            )
        self._state = state
        return state.tolist()

    @property
    def _dimensions(self) -> list[tuple[float, float]]:
        assert not isinstance(self.observations, int)
        return self.observations

    def put(self, observation: Sequence[float], seed: int) -> None:
        """Begins an episode at a state, with the random numbers that an episode of this seed has."""
        self.reset(seed)
        self._state = np.asarray(observation, dtype=np.float64).reshape(-1)

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
        following, reward, done = (array_of(part, "what step returned", Errc.simulator) for part in out)
        if following.shape != (count, dimension) or reward.shape != (count,) or done.shape != (count,):
            raise Error(
                f"step returned arrays of shapes {following.shape}, {reward.shape} and {done.shape} for "
                f"{count} {'state' if count == 1 else 'states'}, but must return ({count}, {dimension}), ({count},) "
                f"and ({count},)",
                Errc.simulator,
            )
        for part, what in ((following, "next"), (reward, "reward"), (done, "done")):
            if part.dtype.kind not in "biuf":
                raise Error(
                    f"step returned {what} of dtype {part.dtype}, as in {part.flat[0]!r:.80}, but must return real "
                    "numbers",
                    Errc.simulator,
                )
        # NaN would be taken for an end.
        if done.dtype.kind != "b" and not np.isin(done, (0, 1)).all():
            bad = done[~np.isin(done, (0, 1))][0]
            raise Error(f"step returned done with {bad}, but each must be True or False", Errc.simulator)
        rows, rewards, ends = (np.ascontiguousarray(part, dtype=np.float64) for part in (following.T, reward, done))
        return rows, rewards, ends


def _name_of(step: Any) -> str:
    return str(getattr(step, "__qualname__", type(step).__qualname__))


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
