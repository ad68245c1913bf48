"""Experiments: training agents on any two simulators, and running specs."""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _hilo
from ._checks import MAX_THREADS, number_in, path_of, text_of, whole, whole_in
from ._errors import Error
from ._hilo import Errc, Fidelities, OwnProblem, Problem, Spec
from .agents import run_python
from .boxes import ActionForm
from .gymnasium_source import Codec
from .pairing import make_pairing
from .progress import Progress, ProgressFunction
from .sides import Side, limit_of, make_side, plain_name
from .spec_data import Agents, Seeds, agents_of, seeds_of, table_of, thrifty
from .study import Study
from .things import resolve
from .vector_simulator import ArrayVectors
from .vectors import VectorSide, are_of_vectors, make_vector_sides, share_environment
from .wrapping import check_options

_FEW_EPISODES = 8  # of agents for vectors, which need no more
_MOST_EPISODES = 10_000  # of a user's simulator, unless more are allowed
_EXACT_STATES = 5_000  # with more states, exact values take longer than training


@dataclass
class _Subject:
    """The problem of a training, in the form of a spec."""

    problem: dict[str, Any]
    has_low: bool
    has_model: bool
    num_states: int
    own: OwnProblem | None = None
    sides: list[Side] = field(default_factory=list)  # high and low, if the user gave them
    vectors: list[VectorSide] = field(default_factory=list)  # instead, if they are of vectors
    shares_environment: bool = False

    @property
    def is_native(self) -> bool:
        """Whether no simulator runs Python code."""
        return not self.vectors and all(side.is_native for side in self.sides)

    @property
    def low_is_slow(self) -> bool:
        """Whether the cheap simulator takes one step at a time: Python code, but for arrays, or a program."""
        slow = any(not isinstance(side, ArrayVectors) for side in self.vectors[1:])
        return slow or any(not side.is_native for side in self.sides[1:])

    @property
    def form(self) -> Codec | ActionForm | None:
        """How policies see observations and actions of the expensive simulator."""
        if self.vectors:
            return self.vectors[0].form
        return self.sides[0].codec if self.sides else None

    @property
    def limit(self) -> int | None:
        """The number of steps after which the expensive simulator truncates an episode itself."""
        if self.vectors:
            return self.vectors[0].own_limit
        return self.sides[0].limit if self.sides else None


def _subject_of(high: Any, low: Any, map: Any, options: dict[str, Any]) -> _Subject:
    if isinstance(high, Problem) and (low is None or low is high) and map is None:
        return _problem_of_hilo(high, options)
    high, low = resolve(high), None if low is None else resolve(low)
    if are_of_vectors(high, low, options):
        if map is not None:
            raise Error(
                "map has no meaning for simulators of vectors, which must have the same observations", Errc.usage
            )
        problem, own, vectors = make_vector_sides(high, low, options)
        return _Subject(
            problem=problem,
            has_low=low is not None,
            has_model=False,
            num_states=0,
            own=own,
            vectors=vectors,
            shares_environment=share_environment(vectors),
        )
    if low is None and not isinstance(high, Fidelities):
        side = make_side(high, "high", options)
        own = OwnProblem("python", side.simulator, None, side.text, "none", False)
        sides, shared = [side], False
    else:
        made = make_pairing(high, low, map, **options)
        low_text = f"{made.low.text} {made.map_text}".strip()
        own = OwnProblem("python", None, made.pair, made.high.text, low_text, made.in_state_order)
        sides, shared = [made.high, made.low], made.shares_environment
    simulator = sides[0].simulator
    return _Subject(
        problem={"kind": own.name},
        has_low=len(sides) > 1,
        has_model=simulator.model is not None,
        num_states=simulator.num_states,
        own=own,
        sides=sides,
        shares_environment=shared,
    )


def _problem_of_hilo(problem: Problem, options: dict[str, Any]) -> _Subject:
    if options:
        raise Error(f"{', '.join(options)} has no meaning for {problem!r}", Errc.usage)
    if problem.seed != 0:
        raise Error(
            f"the problem has the seed {problem.seed}, but every seed of a training builds its own; "
            "leave it out, or train on this one by its simulators, problem.high and problem.low",
            Errc.usage,
        )
    return _Subject(
        problem={"kind": problem.kind, **problem.parameters},
        has_low=True,
        has_model=problem.high.model is not None,
        num_states=problem.high.num_states,
    )


def train(
    high: Any,
    low: Any = None,
    *,
    map: Any = None,
    agent: Agents | None = None,
    episodes: int | None = None,
    seeds: Seeds = 10,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    max_steps: int | None = None,
    truncation: str = "drop",
    test_every: int | None = None,
    test_episodes: int | None = None,
    name: str | None = None,
    store: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    spend: bool = False,
    max_episodes: int | None = None,
    progress: bool | ProgressFunction | None = None,
    **options: Any,
) -> Study:
    """Learns policies for an expensive simulator with the help of a cheap one.

    ``high`` and ``low`` may each be a problem or a simulator of hilo, a Gymnasium environment or its
    id, or a function (see hilo.wrap). ``map`` is T, the low-fidelity state of every high-fidelity
    state. A problem that is part of hilo has its own low fidelity, and every seed builds its own
    problem, as in a spec.

    ``seeds`` is the number of seeds, from 0 on, or the first and the last seed as a tuple.
    ``threads`` is the number of runs at the same time: by default one for each core, but only one
    if Python code runs in them. ``name`` is the name of the experiment in the store. ``progress``
    is shown on terminals and in notebooks by default, always or never with True or False; a
    function is called with (done, failed, total, share) instead.

    ``agent`` is a kind, such as "mfmcrl+" or "bayes", a table of a spec, such as
    ``{"kind": "mfmcrl", "low_rollouts": 5}``, or a list of these. All agents are trained with the
    same random numbers for their episodes. By default MCRL, which uses only the expensive
    simulator, is compared with MFMCRL+. hilo.agent_kinds() lists all kinds and their parameters.
    Agents that start with the cheap simulator use it less by default if it runs Python code:
    "bayes" takes ``low_samples`` = 30 of each pair, "transfer" and "low-only" 20 000 steps, "mfrl"
    100 000.

    ``episodes`` is the number of expensive episodes of each run: by default 1000, and 8 if observations
    are vectors without a grid. Then the default agents are "corrected" and "low-only", or
    "corrected-high" without a cheap simulator.

    An episode is truncated after ``max_steps`` (default: the environment's own limit, else 10 000).
    ``truncation`` says what happens to an episode that was truncated by that or by the environment:
    "drop" leaves it out where agents learn from returns, "terminal" treats the truncation as the
    end of the episode. Truncated episodes are counted.

    There is a test of ``test_episodes`` episodes after every ``test_every`` episodes. For an
    environment in Python, tests are off by default, because its episodes are expensive. Then curves
    show the returns of training, and ``study.policy()`` uses the values that the agents themselves
    expect of their policies. Policies of agents for vectors are then judged by the returns of training:
    ask for tests where you compare them.

    This is a study: it spends agents x seeds x ``episodes`` expensive episodes, and those of tests.
    For one policy from one budget take hilo.learn. If ``high`` runs Python code, more than 10 000
    expensive episodes must be allowed by ``spend=True`` or ``max_episodes``.

    Runs are kept in the file ``store``, and finished runs are not repeated. Without ``store`` only
    the returned study has them. A run is identified by what determines its result: the content of
    tables, and the name, the options and the code of Python objects, as far as the code can be
    seen. What they read from elsewhere is not seen.

    An exception of the user's code is raised again after the other runs are done. The run is
    recorded as failed, and the attribute ``study`` of the exception has the other runs. Ctrl-C
    stops at the next step; the same call with the same store continues.
    """
    if map is not None and low is None:
        raise Error("map is given, but no low fidelity that it could lead to", Errc.usage)
    check_options(options, list(inspect.signature(train).parameters))
    # Arguments that are used in calculations here. The spec checks the others.
    if episodes is not None:
        whole(episodes, "episodes", Errc.usage)
    if max_episodes is not None:
        max_episodes = whole_in(max_episodes, "max_episodes", 0, 2**62)
    if not isinstance(spend, bool):
        raise Error(f"spend is {spend!r}, but must be True or False", Errc.usage)
    for what, share in (("gamma", gamma), ("epsilon", epsilon)):
        number_in(share, what, -math.inf, math.inf)
    threads = None if threads is None else whole_in(threads, "threads", 0, MAX_THREADS)
    name = None if name is None else text_of(name, "name")
    store = None if store is None else path_of(store, "store")
    subject = _subject_of(high, low, map, options)
    if subject.shares_environment and threads not in (None, 1):
        raise Error(
            "high and low are one environment, which can do one thing at a time; give two, or "
            "threads=1",
            Errc.usage,
        )
    if episodes is None:
        episodes = _FEW_EPISODES if subject.vectors else 1000
    if agent is None:
        if subject.vectors:
            agent = ["corrected", "low-only"] if subject.has_low else ["corrected-high"]
        else:
            agent = ["mcrl", "mfmcrl+"] if subject.has_low else ["mcrl"]
    agents = agents_of(agent)
    if subject.low_is_slow:
        agents = [thrifty(table) for table in agents]
    name = name or plain_name(high)
    if test_every is None:
        test_every = max(1, episodes // 20)
    if test_episodes is None:
        test_episodes = 200 if subject.has_model else 0
    exact = subject.has_model and gamma < 1 and subject.num_states <= _EXACT_STATES
    training = {
        "episodes": episodes,
        "gamma": gamma,
        "epsilon": epsilon,
        "max_steps": limit_of(max_steps, subject.limit),
        "truncation": truncation,
    }
    test = {"every": test_every, "episodes": test_episodes, **({"exact_every": test_every} if exact else {})}
    try:
        specs = [
            _hilo.make_spec(
                name,
                seeds_of(seeds),
                table_of(subject.problem, "hilo.train: problem"),
                table_of(training, "hilo.train: train"),
                table_of(test, "hilo.train: test"),
                [table_of(table, f"hilo.train: agent {i}") for i, table in enumerate(agents, 1)],
                "hilo.train",
                subject.own,
            )
        ]
    finally:
        subject.own = None  # an exception must not keep it alive; see _run
    if subject.vectors or (subject.sides and not subject.sides[0].is_native):
        _check_spending(specs[0], episodes, test_every, test_episodes, spend, max_episodes, progress)
    if threads is None:
        # Python runs only one thread at a time.
        threads = 0 if subject.is_native and not run_python(agents) else 1
    return _run(specs, name, store, threads, progress, subject.form)


def _check_spending(
    spec: Spec,
    episodes: int,
    test_every: int,
    test_episodes: int,
    spend: bool,
    max_episodes: int | None,
    progress: bool | ProgressFunction | None,
) -> None:
    """Says what a study will spend on a simulator of the user, and stops if that was not meant."""
    seeds = spec.seeds[1] - spec.seeds[0] + 1
    tests = test_episodes * (1 + math.ceil(episodes / test_every))
    total = len(spec.agents) * seeds * (episodes + tests)
    bill = f"{len(spec.agents)} agents x {seeds} seeds x {episodes + tests} episodes"
    limit = _MOST_EPISODES if max_episodes is None else max_episodes
    if total > limit and not spend:
        raise Error(
            f"this study would run {total} episodes of your expensive simulator ({bill}), but at most "
            f"{limit} are allowed; set spend=True or max_episodes={total} if that is meant, or take "
            "hilo.learn, which learns one policy from one budget",
            Errc.usage,
        )
    Progress(spec.name, "runs", progress).note(
        f"{spec.name}: at most {total} episodes of the expensive simulator ({bill})"
    )


def run(
    spec: str | os.PathLike[str] | Spec,
    *,
    store: str | os.PathLike[str] | None = "hilo.db",
    seeds: Seeds | None = None,
    overrides: Sequence[str] = (),
    threads: int = 0,
    progress: bool | ProgressFunction | None = None,
) -> Study:
    """Runs an experiment as ``hilo run`` does. ``spec`` is a file, a Spec, or the text of a spec.

    ``overrides`` set single keys, as in ``["train.episodes=100"]``. Runs that are in the store are
    not repeated.
    """
    if isinstance(overrides, str) or not isinstance(overrides, Iterable):
        raise Error(
            f'overrides is {overrides!r}, but must be a list, such as ["train.episodes=100"]',
            Errc.usage,
        )
    changes = [text_of(one, "an entry of overrides") for one in overrides]
    if seeds is not None:
        changes.append('seeds="{}..{}"'.format(*seeds_of(seeds)))
    if isinstance(spec, Spec):
        if changes:
            raise Error("a Spec is already checked; give overrides to hilo.load_spec", Errc.usage)
        checked = spec
    elif isinstance(spec, str) and "\n" in spec:
        checked = _hilo.parse_spec(text_of(spec, "spec"), "spec", changes)
    else:
        checked = _hilo.load_spec(path_of(spec, "spec"), changes)
    return _run([checked], checked.name, store, threads, progress, None)


def _run(
    specs: list[Spec],
    name: str,
    store: str | os.PathLike[str] | None,
    threads: int,
    progress: bool | ProgressFunction | None,
    codec: Codec | ActionForm | None,
) -> Study:
    threads = whole_in(threads, "threads", 0, MAX_THREADS)
    if store is not None:
        path_of(store, "store")  # checked before anything is created
    folder = Path(tempfile.mkdtemp(prefix="hilo-")) if store is None else None
    file = folder / "hilo.db" if folder is not None else path_of(store, "store")
    line = Progress(name, "runs", progress)
    try:
        try:
            outcome = _hilo.run_specs(specs, file, threads, line)
        finally:
            line.close()
            # Python's garbage collector does not see what a spec holds, and the frames of an
            # exception would keep it.
            specs.clear()
        if outcome["failed"]:
            _raise(outcome, file, name, codec, folder)
        for note in outcome["notes"]:
            warnings.warn(note, stacklevel=3)
        found = outcome["runs"] - outcome["done"]
        if found:
            line.note(f"{name}: {found} of {outcome['runs']} runs were in {file} already")
        for dropped in outcome["dropped"]:
            warnings.warn(
                f"{file}: the experiment {name!r} no longer shows earlier runs of {dropped!r}, as "
                "the agent, the simulators or their options have changed; they stay in the store",
                stacklevel=3,
            )
        return Study(file, name, codec, folder)
    except BaseException as e:
        if folder is not None and not hasattr(e, "study"):
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _raise(
    outcome: dict[str, Any], file: Path, name: str, codec: Codec | ActionForm | None, folder: Path | None
) -> None:
    """Raises the error of the failed runs, with a study of the others as its attribute."""
    where = f"; they are recorded in {file}" if folder is None else ""
    note = f"hilo: {outcome['failed']} of {outcome['done']} runs failed{where}"
    error = outcome.pop("raised")
    if error is None:
        error = Error(f"{outcome['error']} ({note})", outcome["code"])
    elif hasattr(error, "add_note"):
        error.add_note(note)
    if outcome["failed"] < outcome["runs"]:
        with contextlib.suppress(AttributeError):  # an exception may refuse new attributes
            error.study = Study(file, name, codec, folder)
    raise error
