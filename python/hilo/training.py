"""Experiments: training agents on any two simulators, and running specs."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _hilo
from ._errors import Error
from ._hilo import Errc, FidelityPair, OwnProblem, Problem, Spec, StoreFile
from .gymnasium_source import Codec
from .pairing import make_pairing
from .progress import Progress, ProgressFunction
from .sides import Side, Wrapped, check_options, limit_of, make_side
from .study import Study

Agents = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]

_EXACT_STATES = 5_000  # with more of them exact values take longer than training


def _toml(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(v)}" for key, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, (bool, str)):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return repr(value)
    raise Error(f"{value!r} of type {type(value).__name__} cannot be part of a spec", Errc.usage)


def _agents_of(agent: Agents) -> list[dict[str, Any]]:
    """Agents as tables of a spec; "mfmcrl+" is the variant "plus" of mfmcrl."""
    if isinstance(agent, (str, Mapping)):
        agent = [agent]
    out = []
    for one in agent:
        table = {"kind": one} if isinstance(one, str) else dict(one)
        if str(table.get("kind", "")).lower() == "mfmcrl+":
            table = {**table, "kind": "mfmcrl", "variant": "plus"}
        if isinstance(table.get("kind"), str):
            table["kind"] = table["kind"].lower()
        out.append(table)
    return out


# What agents take of the cheap simulator before they begin, where its steps are those of Python: by
# default they take as much as a native one gives in a second.
_THRIFTY: dict[str, dict[str, int]] = {
    "bayes": {"low_samples": 30},
    "transfer": {"low_steps": 20_000},
    "low-only": {"low_steps": 20_000},
    "mfrl": {"low_steps": 100_000},
}


def _thrifty(agent: dict[str, Any]) -> dict[str, Any]:
    return {**_THRIFTY.get(str(agent.get("kind")), {}), **agent}


def _seeds(seeds: int | tuple[int, int] | range | str) -> str:
    if isinstance(seeds, range) and seeds.step == 1 and len(seeds) > 0:
        seeds = (seeds[0], seeds[-1])
    if isinstance(seeds, tuple) and len(seeds) == 2:
        return f'"{int(seeds[0])}..{int(seeds[1])}"'
    if isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool):
        return str(int(seeds))
    if isinstance(seeds, str):
        return json.dumps(seeds)
    raise Error(
        f"seeds is {seeds!r}, but must be how many, as in 10, or the first and the last of them, as in "
        "(10, 19)",
        Errc.usage,
    )


def _spec_text(
    name: str,
    seeds: int | tuple[int, int] | range | str,
    problem: Mapping[str, Any],
    train: Mapping[str, Any],
    test: Mapping[str, Any],
    agents: Sequence[Mapping[str, Any]],
) -> str:
    lines = ["spec_version = 1", f"name = {json.dumps(name)}", f"seeds = {_seeds(seeds)}"]
    for title, table in (("[problem]", problem), ("[train]", train), ("[test]", test)):
        lines += ["", title, *(f"{key} = {_toml(value)}" for key, value in table.items())]
    for table in agents:
        lines += ["", "[[agent]]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _plain_name(thing: Any) -> str:
    """A name for an experiment, made from what is trained on."""
    if isinstance(thing, Wrapped):
        return _plain_name(thing.thing)
    if isinstance(thing, Problem):
        return thing.kind
    if isinstance(thing, str):
        name = thing
    elif getattr(thing, "spec", None) is not None:
        name = str(thing.spec.id)
    else:
        name = str(getattr(thing, "__name__", type(thing).__name__))
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or "training"


def train(
    high: Any,
    low: Any = None,
    *,
    map: Any = None,
    agent: Agents | None = None,
    episodes: int = 1000,
    seeds: int | tuple[int, int] | range | str = 10,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    max_steps: int | None = None,
    truncation: str = "drop",
    test_every: int | None = None,
    test_episodes: int | None = None,
    name: str | None = None,
    store: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool | ProgressFunction | None = None,
    **options: Any,
) -> Study:
    """Learns policies for an expensive simulator with the help of a cheap one.

    ``high`` and ``low`` may each be a problem or a simulator of hilo, a Gymnasium environment or its
    id, or a function (hilo.wrap says how); ``map`` is T, the low-fidelity state of every
    high-fidelity one. A problem that hilo comes with brings its own low fidelity, and every seed its
    own copy of it, as in a spec.

    ``seeds`` is how many, from 0 on, or the first and the last as a tuple. ``threads`` is how many
    runs go at once, by default one for each core, and one where Python is involved. ``name`` is that
    of the experiment in the store. ``progress`` is shown on terminals and in notebooks, always or
    never with True or False, or goes to a function of (done, failed, total, share).

    ``agent`` is a kind, such as "mfmcrl+" or "bayes", a table of a spec, such as
    ``{"kind": "mfmcrl", "low_rollouts": 5}``, or a list of these, all trained on the same episodes'
    random numbers; without it MCRL, which sees the expensive simulator alone, is compared with
    MFMCRL+. hilo.agent_kinds() lists all, with their parameters. Agents that begin with the cheap
    simulator take less of one in Python than of a native one: "bayes" ``low_samples`` = 30 of each
    pair, "transfer" and "low-only" 20 000 steps, "mfrl" 100 000.

    An episode is cut after ``max_steps`` (default: the environment's own limit, else 10 000).
    ``truncation`` says what becomes of one that was cut by that or by the environment: "drop" leaves
    it out where returns are learnt from, "terminal" takes the cut for the end. They are counted.

    Tests come every ``test_every`` episodes, ``test_episodes`` each. On an environment in Python
    they are off unless asked for, as its episodes cost: then curves show the returns of training.

    Runs go into ``store``, a file, where finished ones are found again, or nowhere. A run is known
    by what decides its result: the content of tables, and of Python things their name, their options
    and their code as far as it can be seen; what they read from elsewhere is not seen.

    Raises what the user's code raised, after the other runs are done; the run is recorded as failed,
    and the exception's attribute ``study`` has the others. Ctrl-C stops at the next step, and the
    same call with the same store goes on.
    """
    if map is not None and low is None:
        raise Error("map is given, but no low fidelity that it could lead to", Errc.usage)
    check_options(options, list(inspect.signature(train).parameters))
    is_pair = low is not None or isinstance(high, (Problem, FidelityPair))
    if agent is None:
        agent = ["mcrl", "mfmcrl+"] if is_pair else ["mcrl"]
    agents = _agents_of(agent)
    name = name or _plain_name(high)
    if test_every is None:
        test_every = max(1, episodes // 20)
    train_table: dict[str, Any] = {"episodes": episodes, "gamma": gamma, "epsilon": epsilon}
    test_table: dict[str, Any] = {"every": test_every}
    own: OwnProblem | None = None
    sides: list[Side] = []

    if isinstance(high, Problem) and (low is None or low is high) and map is None:
        if options:
            raise Error(f"{', '.join(options)} has no meaning for {high!r}", Errc.usage)
        if high.seed != 0:
            raise Error(
                f"the problem has the seed {high.seed}, but every seed of a training builds its own; "
                "leave it out, or train on this one by its simulators, problem.high and problem.low",
                Errc.usage,
            )
        problem: dict[str, Any] = {"kind": high.kind, **high.parameters}
        has_model, num_states = high.high.model is not None, high.high.num_states
        native, limit = True, None
    else:
        problem = {"kind": "python"}
        if not is_pair:
            side = make_side(high, "high", options)
            sides = [side]
            own = OwnProblem("python", side.simulator, None, side.text, "none", False)
            native = side.is_native
        else:
            made = make_pairing(high, low, map, **options)
            if not made.low.is_native:
                agents = [_thrifty(table) for table in agents]
            sides = [made.high, made.low]
            low_text = f"{made.low.text} {made.map_text}".strip()
            own = OwnProblem(
                "python", None, made.pair, made.high.text, low_text, made.in_state_order
            )
            native = made.is_native
            if made.shares_environment and threads not in (None, 1):
                raise Error(
                    "high and low are one environment, which can do one thing at a time; give two, "
                    "or threads=1",
                    Errc.usage,
                )
        limit = sides[0].limit
        has_model = sides[0].simulator.model is not None
        num_states = sides[0].simulator.num_states

    train_table["max_steps"] = limit_of(max_steps, limit)
    train_table["truncation"] = truncation
    if test_episodes is None:
        test_episodes = 200 if has_model else 0
    test_table["episodes"] = test_episodes
    if has_model and gamma < 1 and num_states <= _EXACT_STATES:
        test_table["exact_every"] = test_every
    text = _spec_text(name, seeds, problem, train_table, test_table, agents)
    try:
        specs = [_hilo.parse_spec(text, "hilo.train", [], own)]
    finally:
        own = None  # see _run
    if threads is None:
        threads = 0 if native else 1  # Python runs one thread at a time
    return _run(specs, name, store, threads, progress, sides)


def run(
    spec: str | os.PathLike[str] | Spec,
    *,
    store: str | os.PathLike[str] | None = "hilo.db",
    seeds: int | tuple[int, int] | range | str | None = None,
    overrides: Sequence[str] = (),
    threads: int = 0,
    progress: bool | ProgressFunction | None = None,
) -> Study:
    """Runs an experiment from a spec: a file, a Spec, or the text of one; as ``hilo run`` does.

    ``overrides`` set single keys, as in ``["train.episodes=100"]``. Runs that the store has are not
    run again.
    """
    changes = [*overrides, *([f"seeds={_seeds(seeds)}"] if seeds is not None else [])]
    if isinstance(spec, Spec):
        if changes:
            raise Error("a Spec is already checked; give overrides to hilo.load_spec", Errc.usage)
        checked = spec
    elif isinstance(spec, str) and "\n" in spec:
        checked = _hilo.parse_spec(spec, "spec", changes)
    else:
        checked = _hilo.load_spec(Path(spec), changes)
    return _run([checked], checked.name, store, threads, progress, [])


def _run(
    specs: list[Spec],
    name: str,
    store: str | os.PathLike[str] | None,
    threads: int,
    progress: bool | ProgressFunction | None,
    sides: list[Side],
) -> Study:
    folder = Path(tempfile.mkdtemp(prefix="hilo-")) if store is None else None
    file = folder / "hilo.db" if folder is not None else Path(os.fspath(store or ""))
    line = Progress(name, "runs", progress)
    try:
        opened = StoreFile(file, True)
        try:
            outcome = _hilo.run_specs(specs, opened.get(), threads, line)
        finally:
            opened.close()
            line.close()
            # Python's garbage collector does not see what a spec holds, and the frames of an
            # exception would keep it.
            specs.clear()
        codec = sides[0].codec if sides else None
        if outcome["failed"]:
            _raise(outcome, file, name, codec, folder)
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
    outcome: dict[str, Any], file: Path, name: str, codec: Codec | None, folder: Path | None
) -> None:
    """Raises what went wrong, with what went right."""
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
