"""What a policy is worth on an expensive simulator, with the help of cheap ones."""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _hilo
from ._checks import MAX_SEED, number_in, path_of, text_of, whole_in
from ._errors import Error
from ._hilo import Errc
from .episodes import EpisodeRunner, EvaluatedEpisode, EvaluatedPolicy, SimulatorFailed, make_runner, names_of
from .sides import plain_name

_QUANTITIES = {
    "return": "mean return",
    "total-reward": "mean total reward",
    "length": "mean length of an episode",
    "success": "probability of success",
}
_COUPLINGS = {
    "seed": "expensive and cheap episodes share the seed",
    "start": "expensive and cheap episodes share the start state and the seed",
    "none": "expensive and cheap episodes share nothing",
}
_DEFAULT_MAX_STEPS = 10_000
_MOST_CHEAP = 4


@dataclass(frozen=True)
class Worth:
    """A value with its interval: with the cheap simulators' help, and without it."""

    value: float
    low: float | None
    """The lower end of the interval; None if there is none."""
    high: float | None
    standard_error: float | None
    helped: bool
    """Whether cheap simulators have sharpened it."""
    plain: tuple[float, float | None, float | None]
    """The same expensive episodes alone: value and interval."""
    worth_episodes: float
    """Plain expensive episodes that would give the same standard error."""
    caution: str
    """Why the interval may hold the true value less often than it says; "" without a reason."""


def _worth(row: Mapping[str, Any]) -> Worth:
    plain = row["plain"]
    return Worth(
        value=row["value"],
        low=row["low"],
        high=row["high"],
        standard_error=row["standard_error"],
        helped=row["controlled"],
        plain=(plain["value"], plain["low"], plain["high"]),
        worth_episodes=row["worth_episodes"],
        caution=row["caution"],
    )


@dataclass(frozen=True)
class Evaluated:
    """What hilo.evaluate returns. Printing it gives a sentence and tables; ``plot`` draws it."""

    policies: dict[str, Worth]
    """What each policy is worth on the expensive simulator."""
    differences: dict[tuple[str, str], Worth]
    """First policy minus second, for all pairs. Their intervals hold together."""
    best: str | None
    """The policy that is clearly better than all others; None if that cannot be told."""
    simulators: list[dict[str, Any]]
    """The expensive simulator, then the cheap ones: episodes, costs, and why each was used or not."""
    correlations: list[list[float]]
    """Between the simulators, in their order."""
    spent: float
    """The cost of all episodes."""
    equal_episodes: float
    """Expensive episodes of each policy that would have cost as much."""
    headline: str
    """The result in a sentence or two."""
    stages: list[dict[str, float]]
    """The looks at the interval, if a width was asked for."""
    cautions: list[str]
    journal: Path | None
    """The file with all that was paid for."""
    details: dict[str, Any] = field(repr=False, default_factory=dict)
    """All of it, as ``hilo evaluate --json`` prints it."""
    _text: str = field(repr=False, default="")
    _page: str = field(repr=False, default="")

    @property
    def value(self) -> float:
        """The value of the only policy."""
        return self._only().value

    @property
    def low(self) -> float | None:
        """The lower end of its interval."""
        return self._only().low

    @property
    def high(self) -> float | None:
        """The upper end of its interval."""
        return self._only().high

    def _only(self) -> Worth:
        if len(self.policies) != 1:
            raise Error("there are several policies: see policies and differences", Errc.usage)
        return next(iter(self.policies.values()))

    def __str__(self) -> str:
        return self._text

    def report(self, out: str | os.PathLike[str], force: bool = False) -> Path:
        """Writes the result as a page that works offline. A file that hilo did not write is replaced
        only if `force`."""
        target = path_of(out, "out")
        if not isinstance(force, bool):
            raise Error(f"force is {force!r}, but must be True or False", Errc.usage)
        _hilo.write_learnt(target, self._page, "· hilo</title>", force)
        return target

    def plot(self, axes: Any = None) -> Any:
        """Draws values, or differences between policies, as intervals. Needs matplotlib; returns the axes."""
        from matplotlib import pyplot

        if axes is None:
            rows = max(len(self.differences), 3)
            _, axes = pyplot.subplots(figsize=(7, 1.2 + 0.45 * rows), layout="constrained")
        shown: list[tuple[str, float, float | None, float | None, str]] = []
        if self.differences:
            for (a, b), d in self.differences.items():
                shown.append((f"{a} − {b}", d.value, d.low, d.high, "C0"))
            axes.axvline(0, color="0.5", linewidth=1)
            axes.set_xlabel(f"difference of the {self.details['quantity']}")
        else:
            w = self._only()
            half = self.details["policies"][0]["plain_half_width"]
            shown.append(("with the cheap simulators" if w.helped else "the value", w.value, w.low, w.high, "C0"))
            if w.helped:
                shown.append(("its expensive episodes alone", *w.plain, "0.5"))
                shown.append(("plain, for the same cost", w.value, w.value - half, w.value + half, "C1"))
            axes.set_xlabel(self.details["quantity"])
        for place, (_, value, low, high, colour) in enumerate(shown):
            if low is not None and high is not None:
                axes.plot([low, high], [-place, -place], color=colour, linewidth=5, alpha=0.45)
            axes.plot([value], [-place], "o", color=colour)
        axes.set_yticks([-place for place in range(len(shown))], [row[0] for row in shown])
        axes.set_ylim(-len(shown) + 0.4, 0.6)
        return axes


Measured = Callable[[EvaluatedEpisode], float]


def _measure(quantity: str | Measured, gamma: float, success_above: float | None) -> Measured:
    if callable(quantity):
        return quantity
    if not isinstance(quantity, str) or quantity not in _QUANTITIES:
        raise Error(
            f"quantity is {quantity!r}, but must be one of {', '.join(_QUANTITIES)}, or a function of an episode",
            Errc.usage,
        )
    if success_above is not None and quantity != "success":
        raise Error(f"success_above is given, but quantity is {quantity!r}", Errc.usage)
    if quantity == "return":
        return lambda e: _discounted(e.rewards, gamma)
    if quantity == "total-reward":
        return lambda e: float(np.sum(e.rewards))
    if quantity == "length":
        return lambda e: float(len(e))
    if success_above is None:
        return lambda e: 0.0 if e.truncated else 1.0
    return lambda e: 1.0 if float(np.sum(e.rewards)) >= success_above else 0.0


def _discounted(rewards: NDArray[np.float64], gamma: float) -> float:
    total, discount = 0.0, 1.0
    for reward in rewards:
        total += discount * float(reward)
        discount *= gamma
    return total


def _costs(
    given: Sequence[float] | Mapping[str, float] | None, simulators: int
) -> list[tuple[float | None, float | None]]:
    """Cost of an episode and of a step of each simulator."""
    if given is None:
        return [(None, None)] * simulators
    if isinstance(given, Mapping):
        known = {"high_episode", "high_step", "low_episode", "low_step"}
        others = sorted(set(given) - known)
        if others:
            raise Error(f"costs has {', '.join(others)}, but may have {', '.join(sorted(known))}", Errc.usage)
        values = {key: number_in(value, f"costs: {key}", 0, 1e300) for key, value in given.items()}
        high = (values.get("high_episode"), values.get("high_step"))
        low = (values.get("low_episode"), values.get("low_step"))
        return [high] + [low] * (simulators - 1)
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or len(given) != simulators:
        raise Error(
            f"costs is {given!r}, but must have the cost of an episode of each of the {simulators} simulators, the "
            'expensive one first, or be a dict such as {"high_step": 1.0, "low_step": 0.01}',
            Errc.usage,
        )
    return [(number_in(cost, "a cost", 0, 1e300), None) for cost in given]


def _same_spaces(high: EpisodeRunner, low: EpisodeRunner) -> None:
    for what, ours, theirs in (
        ("observations", low.observations, high.observations),
        ("actions", low.actions, high.actions),
    ):
        if ours is None or theirs is None:
            continue
        same = ours == theirs if isinstance(ours, int) or isinstance(theirs, int) else len(ours) == len(theirs)
        if not same:
            shape = [f"{n} numbered" if isinstance(n, int) else f"vectors of {len(n)}" for n in (ours, theirs)]
            raise Error(
                f"the cheap simulator {low.name} has other {what} ({shape[0]}) than {high.name} ({shape[1]}), so that "
                "a policy cannot act in both",
                Errc.usage,
            )


def _told_apart(identities: list[str]) -> list[str]:
    """Two that are the same policy have episodes of their own in a journal."""
    earlier = [identities[:i].count(one) for i, one in enumerate(identities)]
    return [f"{one} (again {n})" if n else one for one, n in zip(identities, earlier, strict=True)]


class _Progress:
    """Calls the user's function, or writes a line on a terminal now and then."""

    def __init__(self, name: str, wanted: bool | Callable[..., object] | None) -> None:
        import sys

        self._name, self._call = name, wanted if callable(wanted) else None
        self._line = wanted is True or (wanted is None and sys.stderr.isatty())
        self._last, self._shown = 0.0, False

    def show(self, evaluator: _hilo.Evaluator) -> None:
        import sys

        now = time.monotonic()
        if now - self._last < 0.2:
            return
        self._last = now
        if self._call is not None:
            self._call(evaluator.pairs, evaluator.share)
        elif self._line:
            share = f"{100 * evaluator.share:.0f} % of the budget"
            sys.stderr.write(f"\r\033[K{self._name}: {evaluator.pairs} expensive episodes, {share}")
            sys.stderr.flush()
            self._shown = True

    def close(self) -> None:
        import sys

        if self._shown:
            sys.stderr.write("\r\033[K")


class _Run:
    """The loop: runs what the evaluator asks for, and tells it what came out."""

    def __init__(
        self,
        evaluator: _hilo.Evaluator,
        runners: list[EpisodeRunner],
        policies: list[EvaluatedPolicy],
        measure: Measured,
        coupling: str,
        max_steps: int,
        retries: int,
    ) -> None:
        self.evaluator, self.runners, self.policies = evaluator, runners, policies
        self.measure, self.coupling, self.max_steps, self.retries = measure, coupling, max_steps, retries
        self.resets = 0

    def spend(self, progress: _Progress) -> None:
        while True:
            requests = self.evaluator.ask()
            if not requests:
                return
            dropped: set[int] = set()
            for request in requests:
                if request.simulator == 0:
                    if not self.evaluator.is_skipped(request.index):  # by another policy
                        self._expensive(request)
                elif request.simulator not in dropped and not self._cheap(request):
                    dropped.add(request.simulator)
                progress.show(self.evaluator)

    def _expensive(self, request: _hilo.EvaluationRequest) -> None:
        runner, policy = self.runners[0], self.policies[request.policy]
        began = time.perf_counter()
        try:
            act = policy.actor(runner, 0, request.seed)
            episode = runner.run(act, request.seed, self.max_steps)
        except SimulatorFailed as e:
            again = self.evaluator.tell_failure(request, str(e), time.perf_counter() - began)
            if again is not None:
                self._expensive(again)
            return
        seconds = time.perf_counter() - began
        self.evaluator.tell(
            request,
            np.ascontiguousarray(episode.observations),
            np.ascontiguousarray(episode.actions),
            np.ascontiguousarray(episode.rewards),
            episode.truncated,
            seconds,
            runner.cost,
        )

    def _cheap(self, request: _hilo.EvaluationRequest) -> bool:
        runner, policy = self.runners[request.simulator], self.policies[request.policy]
        seed = request.own_seed if self.coupling == "none" else request.seed
        for attempt in range(self.retries + 1):
            began = time.perf_counter()
            try:
                start = self._start(request) if self.coupling == "start" else None
                episode = runner.run(policy.actor(runner, request.simulator, seed), seed, self.max_steps, start)
                break
            except SimulatorFailed as e:
                if attempt == self.retries:
                    self.evaluator.drop(request.simulator, str(e))
                    return False
        seconds = time.perf_counter() - began
        self.evaluator.tell_cheap(request, float(self.measure(episode)), len(episode), seconds, runner.cost)
        return True

    def _start(self, request: _hilo.EvaluationRequest) -> Any:
        """Where the expensive episode began; for a free one, where it would begin."""
        paired = None if request.free else self.evaluator.start_of(request.index)
        if paired is not None:
            return paired
        self.resets += 1
        return self.runners[0].begin(request.seed, None)


def evaluate(
    policy: Any,
    high: Any,
    lows: Any = (),
    *,
    budget: float | None = None,
    cost: float | None = None,
    until: float | None = None,
    costs: Sequence[float] | Mapping[str, float] | None = None,
    quantity: str | Measured = "return",
    success_above: float | None = None,
    gamma: float = 1.0,
    max_steps: int | None = None,
    coupling: str = "auto",
    retries: int = 2,
    on_failure: str = "skip",
    seed: int = 0,
    name: str | None = None,
    journal: str | os.PathLike[str] | bool | None = None,
    sync: bool = True,
    progress: bool | Callable[..., object] | None = None,
) -> Evaluated:
    """Says what a policy is worth on an expensive simulator, with the help of cheap ones.

    ``policy`` is a function of an observation (or of an observation and a random generator), an object
    with ``predict``, such as a stable-baselines3 model, a policy file of hilo, or "command: PROGRAM".
    A dict or list of policies is compared. ``high`` and each of ``lows``, at most four, is a Gymnasium
    environment or its id, a hilo.program, a hilo.VectorSimulator, or a function wrapped by hilo.wrap; all
    have the same observations and actions.

    ``budget`` is what may be spent, as the cost of so many expensive episodes, cheap ones included;
    ``cost`` says it as a cost instead. With ``until`` it stops as soon as the interval reaches no further
    on either side. ``costs`` has the cost of an episode of each simulator, the expensive one first, or is
    a dict with any of high_episode, high_step, low_episode and low_step; otherwise seconds are measured.

    ``quantity`` is "return" (discounted by ``gamma``, which is 1 unless you say otherwise),
    "total-reward", "length", "success" (the total reward is at least ``success_above``, or the episode
    ends by itself), or a function of a hilo.EvaluatedEpisode. ``coupling`` says what paired episodes
    share: "seed", "start" (programs and VectorSimulators, which can be started anywhere) or "none".

    Every expensive episode is in the file ``journal`` (default NAME.evaluation.journal; False: none)
    before it is used: the same call goes on where it was, and pays for nothing twice. An episode that
    fails is tried again ``retries`` times with the same seed, and then left out, or the evaluation stops
    (``on_failure="stop"``).
    """
    given = [lows] if isinstance(lows, str) or not isinstance(lows, (list, tuple)) else list(lows)
    given = [low for low in given if low is not None]
    if len(given) > _MOST_CHEAP:
        raise Error(f"there are {len(given)} cheap simulators, but at most {_MOST_CHEAP} can help", Errc.usage)
    for what, number, most in (("budget", budget, 1e9), ("cost", cost, 1e300), ("until", until, 1e300)):
        if number is not None:
            number_in(number, what, 0, most)
    if budget is not None and cost is not None:
        raise Error("budget and cost are both given; an evaluation has one of them", Errc.usage)
    if not budget and not cost and not until:
        raise Error("give a budget (in expensive episodes), a cost, or until, the half-width to reach", Errc.usage)
    gamma = number_in(gamma, "gamma", 0, 1)
    seed = whole_in(seed, "seed", 0, MAX_SEED)
    retries = whole_in(retries, "retries", 0, 1000)
    if not isinstance(on_failure, str) or on_failure not in ("skip", "stop"):
        raise Error(f"on_failure is {on_failure!r}, but must be 'skip' or 'stop'", Errc.usage)
    if not isinstance(coupling, str) or coupling not in ("auto", *_COUPLINGS):
        raise Error(f"coupling is {coupling!r}, but must be auto, seed, start or none", Errc.usage)
    if success_above is not None:
        success_above = number_in(success_above, "success_above", -math.inf, math.inf)
    measure = _measure(quantity, gamma, success_above)
    named = names_of(policy)
    policies = [EvaluatedPolicy(one) for one in named.values()]
    runners = [make_runner(high, "high")] + [make_runner(low, "low") for low in given]
    for low in runners[1:]:
        _same_spaces(runners[0], low)
    names = [runner.name for runner in runners]
    for number, runner in enumerate(runners):
        if names.count(runner.name) > 1:
            runner.name += " (expensive)" if number == 0 else f" (cheap {number})" if len(given) > 1 else " (cheap)"
        for one in policies:
            one.bind(runner, number)
    can_start = len(runners) > 1 and all(runner.starts_anywhere for runner in runners[1:])
    if coupling == "start" and not can_start:
        raise Error("coupling is 'start', but not all cheap simulators are programs that know start, or VectorSimulators", Errc.usage)
    chosen = coupling if coupling != "auto" else "start" if can_start else "seed"
    limit = max_steps if max_steps is not None else runners[0].own_limit or _DEFAULT_MAX_STEPS
    limit = whole_in(limit, "max_steps", 1, 10_000_000)
    name = text_of(name, "name") if name is not None else plain_name(high)
    file: Path | None = None
    if journal is None or journal is True:
        file = Path(f"{name}.evaluation.journal")
    elif journal is not False:
        file = path_of(journal, "journal")
    words = _QUANTITIES[quantity] if isinstance(quantity, str) else str(getattr(quantity, "__name__", "quantity"))

    def value_of(
        observations: NDArray[np.float64],
        actions: NDArray[np.float64],
        rewards: NDArray[np.float64],
        truncated: bool,
    ) -> float:
        return float(measure(EvaluatedEpisode(observations, actions, rewards, truncated)))

    evaluator = _hilo.make_evaluator(
        name,
        words,
        seed,
        list(named),
        _told_apart([one.identity for one in policies]),
        [runner.name for runner in runners],
        [runner.identity for runner in runners],
        runners[0].identity,
        limit,
        _costs(costs, len(runners)),
        float(budget or (0 if cost else 10_000)),
        float(cost or 0),
        float(until or 0),
        retries,
        on_failure == "stop",
        value_of,
        file,
        sync,
    )
    run = _Run(evaluator, runners, policies, measure, chosen, limit, retries)
    line = _Progress(name, progress)
    try:
        run.spend(line)
    finally:
        line.close()
        evaluator.close()  # an exception that is kept must not keep the journal
    notes = []
    if run.resets:
        notes.append(
            f"{run.resets} resets of the expensive simulator gave start states for free cheap episodes; they took no "
            "step and are not on the bill"
        )
    text, shown, page = evaluator.outcome(_COUPLINGS[chosen], notes, "hilo.evaluate")
    found = json.loads(text)
    for note in found["notes"]:
        if "left out" in note or "not used" in note:
            warnings.warn(note, stacklevel=2)
    return Evaluated(
        policies={row["name"]: _worth(row) for row in found["policies"]},
        differences={(row["a"], row["b"]): _worth(row) for row in found["comparisons"]},
        best=found["best"],
        simulators=found["simulators"],
        correlations=found["correlations"] or [],
        spent=found["spent"],
        equal_episodes=found["equal_episodes"],
        headline=found["headline"],
        stages=found["stages"],
        cautions=found["cautions"],
        journal=file,
        details=found,
        _text=shown,
        _page=page,
    )
