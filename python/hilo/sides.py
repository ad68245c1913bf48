"""One fidelity: makes anything that can be simulated ready for the engine."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from . import _hilo
from ._errors import Error
from ._hilo import (
    EpisodeSimulator,
    Errc,
    Model,
    Problem,
    PythonEpisodes,
    PythonSimulator,
    Simulator,
    TabularMdp,
)
from .grid import Grid
from .programs import HIGH_ONLY, Program
from .gymnasium_source import Codec, GymnasiumSource
from .sources import FunctionSource, Source
from .tables import TableMdp, content_hash
from .things import is_environment, no_simulator, resolve
from .vector_simulator import VectorSimulator
from .wrapping import Wrapped, refuse_low_only

_DEFAULT_MAX_STEPS = 10_000


def limit_of(max_steps: int | None, own: int | None) -> int:
    """The limit of steps of an episode: as given, else the environment's own, else a default."""
    if max_steps is not None:
        return max_steps
    return _DEFAULT_MAX_STEPS if own is None else own


# Wrappers that leave steps and rewards as they are, so that the table behind them still holds.
_NEUTRAL = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics")


@dataclass
class Side:
    """One fidelity, ready for the engine."""

    simulator: EpisodeSimulator
    text: str  # identifies it in a store
    num_observations: int
    ended: dict[int, int] = field(default_factory=dict)  # terminal copies of observations
    limit: int | None = None  # number of steps after which it truncates an episode itself
    source: Source | None = None
    grid: Grid | None = None
    is_program: bool = False

    @property
    def is_native(self) -> bool:
        """Whether it is hilo's own: no Python code, and no other program."""
        return self.source is None and not self.is_program

    @property
    def codec(self) -> Codec | None:
        """How its observations and actions are numbered, if they are not numbers already."""
        return self.source.codec if isinstance(self.source, GymnasiumSource) else None


def _table_of(env: Any) -> TableMdp | None:
    """The transition table of a toy-text environment, if it describes it completely."""
    inner = getattr(env, "unwrapped", env)
    table = getattr(inner, "P", None)
    start = getattr(inner, "initial_state_distrib", None)
    if table is None or start is None or getattr(inner, "fickle_passenger", False):
        return None
    layer = env
    while layer is not inner:
        if type(layer).__name__ not in _NEUTRAL:
            return None
        layer = layer.env
    # A class with its own step function need not follow the table that it inherits.
    if not type(inner).__module__.startswith("gymnasium.envs.toy_text"):
        return None
    return TableMdp(table, start)


def _native_text(simulator: EpisodeSimulator) -> str:
    origin = getattr(simulator, "_origin", None)
    if origin is not None and origin[0] != "table":  # but the content of files may change
        kind, parameters, seed, part = origin
        given = " ".join(f"{key}={value!r}" for key, value in sorted(parameters.items()))
        return f"{kind} {given} seed={seed} {part}"
    model: Model | None = simulator.model
    if model is None:
        return f"{type(simulator).__name__} of {simulator.num_states} states"
    sampling = getattr(simulator, "_sampling", "alias")
    return f"table {content_hash(model)}" + ("" if sampling == "alias" else f" {sampling}")


def native_side(simulator: EpisodeSimulator, role: str) -> Side:
    if role == "low" and not isinstance(simulator, Simulator):
        raise Error(
            "this simulator gives full episodes alone and cannot be the low fidelity: roll-outs "
            "there start at any pair of state and action",
            Errc.spec,
        )
    source = getattr(simulator, "source", None)
    if isinstance(source, Source):
        return Side(simulator, _source_text(source, role), simulator.num_states, source=source)
    return Side(simulator, _native_text(simulator), simulator.num_states)


def _source_text(source: Source, role: str) -> str:
    """Identifies a source in a store.

    "drawn in cells" separates its roll-outs from older ones, which started at the centre of a cell.
    """
    drawn = role == "low" and isinstance(source, GymnasiumSource) and source.grid is not None
    return f"{source.identity} drawn in cells" if drawn else source.identity


def _source_side(source: Source, role: str) -> Side:
    n, k = source.num_states, source.num_actions
    make = PythonEpisodes if role == "high" else PythonSimulator
    grid = source.grid if isinstance(source, GymnasiumSource) else None
    return Side(
        make(source, n, k, list(source.terminal)),
        _source_text(source, role),
        n,
        limit=source.own_limit,
        source=source,
        grid=grid,
    )


def _environment_side(env: Any, role: str, options: dict[str, Any]) -> Side:
    known = {"grid", "action_grid", "set_state", "reward", "terminal", "hold", "identity"}
    _refuse_others(options, known, f"the environment {env}")
    if not options and (table := _table_of(env)) is not None:
        limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
        return Side(
            _hilo.make_simulator(table.mdp),
            f"table {content_hash(table.mdp)}",
            table.num_observations,
            ended=table.ended,
            limit=limit,
        )
    source = GymnasiumSource(env, **options)
    if role == "low":
        source.check_can_be_put()
    return _source_side(source, role)


def _program_side(thing: Program, role: str) -> Side:
    own = thing.options
    if thing.vectors or thing.angles is not None:
        raise Error(
            f"the program '{thing.command}' is one of vectors, but here states are numbered, as those of the other "
            "simulator are: give it grid= instead of vectors= and angles=",
            Errc.usage,
        )
    if role == "low":
        own = {k: v for k, v in own.items() if k not in HIGH_ONLY}
    make = _hilo.make_program_high if role == "high" else _hilo.make_program_low
    try:
        simulator = make(own)
    except Error as e:  # the engine speaks of a spec
        if "problem.vectors = true" not in str(e):
            raise
        raise Error(str(e).replace("problem.vectors = true", "vectors=True of hilo.program"), e.code) from None
    deciding = {k: v for k, v in own.items() if k not in HIGH_ONLY}
    text = f"program {_hilo.program_identity(deciding)}"
    return Side(simulator, text, simulator.num_states, is_program=True)


def _refuse_others(options: dict[str, Any], known: set[str], what: str) -> None:
    others = sorted(set(options) - known)
    if others:
        raise Error(f"{', '.join(others)} has no meaning for {what}", Errc.usage)


def _function_side(function: Any, role: str, options: dict[str, Any]) -> Side:
    missing = [key for key in ("states", "actions", "start") if key not in options]
    if missing:
        raise Error(
            f"{function!r} is taken as step(state, action, rng), which needs {', '.join(missing)}: "
            "pass hilo.wrap(step, states=..., actions=..., start=...)",
            Errc.usage,
        )
    known = {"states", "actions", "start", "reward", "terminal", "hold", "identity"}
    _refuse_others(options, known, f"the function {function!r}")
    return _source_side(FunctionSource(function, **options), role)


def make_side(thing: Any, role: str, options: dict[str, Any] | None = None) -> Side:
    """Makes a simulator for a role, "high" or "low"."""
    options = dict(options or {})
    thing = resolve(thing)
    if role == "high":
        refuse_low_only(options, thing)
    if isinstance(thing, Wrapped):
        return make_side(thing.thing, role, {**options, **thing.options})
    if isinstance(thing, Program):
        _refuse_others(options, set(), f"the program '{thing.command}': give it to hilo.program")
        return _program_side(thing, role)
    if isinstance(thing, (Problem, TabularMdp, EpisodeSimulator)):
        _refuse_others(options, set(), f"{thing!r}, which says it all itself")
        if isinstance(thing, Problem):
            thing = thing.high if role == "high" else thing.low
        elif isinstance(thing, TabularMdp):
            thing = _hilo.make_simulator(thing)
        return native_side(thing, role)
    if isinstance(thing, VectorSimulator):
        raise Error(
            f"{thing!r} is a simulator of vectors, but here states are numbered; hilo.learn, hilo.train and "
            "hilo.evaluate take it, for both sides",
            Errc.usage,
        )
    if is_environment(thing):
        return _environment_side(thing, role, options)
    if callable(thing):
        return _function_side(thing, role, options)
    raise no_simulator(thing)


def plain_name(thing: Any) -> str:
    """A name for an experiment, made from the expensive simulator."""
    if isinstance(thing, Wrapped):
        return plain_name(thing.thing)
    if isinstance(thing, Problem):
        return thing.kind
    if isinstance(thing, str):
        name = thing
    elif getattr(thing, "spec", None) is not None:
        name = str(thing.spec.id)
    else:
        name = str(getattr(thing, "__name__", type(thing).__name__))
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or "training"
