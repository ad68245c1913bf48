"""Converts arguments of Python functions to the data of a spec (docs/spec.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _hilo
from ._checks import MAX_SEED, number_in, text_of, whole_in
from ._errors import Error
from ._hilo import Errc

Agents = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]
Seeds = int | tuple[int, int] | range | str


Table = tuple[dict[str, Any], dict[str, list[Any]]]  # values, and lists of a sweep


def _plain(value: Any, key: str) -> Any:
    """A value that a spec can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise Error(f"{key} is a whole number that is too large: it must be below 2^63", Errc.spec)
    if isinstance(value, str):
        return text_of(value, key)
    if isinstance(value, (bool, int, float)):
        return value
    shown = repr(value)[:80]
    raise Error(
        f"{key} is {shown} of type {type(value).__name__}, but must be a single value: true or false, a "
        "number or a text",
        Errc.spec,
    )


def table_of(table: Mapping[str, Any], where: str) -> Table:
    """A table of a spec, with the lists of its sweep separate. Messages begin with ``where``."""
    values = {text_of(key, f"{where}: a key"): value for key, value in table.items()}
    sweep = values.pop("sweep", {})
    if not isinstance(sweep, Mapping):
        raise Error(f"{where}: sweep must be a table of lists", Errc.spec)
    lists: dict[str, list[Any]] = {}
    for key, swept in sweep.items():
        named = f"{where}: sweep.{text_of(key, f'{where}: a key of sweep')}"
        if not isinstance(swept, (list, tuple, np.ndarray)) or len(swept) == 0:
            raise Error(f"{named} must be a list with at least one value", Errc.spec)
        lists[key] = [_plain(value, named) for value in swept]
    if isinstance(values.get("tune"), Mapping):
        values["tune"] = _tune_text(values["tune"], f"{where}: tune")
    return {key: _plain(value, f"{where}: {key}") for key, value in values.items()}, lists


def _tune_text(ranges: Mapping[str, Any], where: str) -> str:
    """{"mass": (0.5, 2)} as a spec holds it."""
    if not ranges:
        raise Error(f"{where} must not be empty: give ranges, such as {{'mass': (0.5, 2)}}, or leave it out", Errc.spec)
    parts = []
    for name, ends in sorted(ranges.items()):
        if not isinstance(ends, (list, tuple, np.ndarray)) or np.shape(ends) != (2,):
            raise Error(f"{where}: {name} is {ends!r}, but must be the ends of its range, such as (0.5, 2)", Errc.spec)
        low, high = (number_in(end, f"{where}: {name}", -math.inf, math.inf, Errc.spec) for end in ends)
        parts.append(f"{text_of(name, f'{where}: a name')} {low!r} {high!r}")
    return ", ".join(parts)


def agents_of(agent: Agents) -> list[dict[str, Any]]:
    """Agents as tables of a spec. "mfmcrl+" is the variant "plus" of "mfmcrl"."""
    if isinstance(agent, (str, Mapping)):
        agent = [agent]
    if not isinstance(agent, Iterable) or isinstance(agent, bytes):
        raise Error(f"agent is {agent!r}, but must be a kind, a table, or a list of them", Errc.usage)
    out = []
    for one in agent:
        if not isinstance(one, (str, Mapping)):
            raise Error(
                f"an agent is {one!r} of type {type(one).__name__}, but must be a kind, such as "
                '"mcrl", or a table, such as {"kind": "mcrl"}',
                Errc.usage,
            )
        table = {"kind": one} if isinstance(one, str) else dict(one)
        if isinstance(table.get("kind"), str):
            table["kind"] = table["kind"].lower()
            if table["kind"].endswith("+"):
                table.update(kind=table["kind"][:-1], variant="plus")
        out.append(table)
    return out


def thrifty(agent: dict[str, Any]) -> dict[str, Any]:
    """The agent with defaults for a cheap simulator that runs Python code."""
    kind = _hilo.agent_kinds().get(str(agent.get("kind")), {})
    return {**kind.get("for_slow_low_fidelity", {}), **agent}


def seeds_of(seeds: Seeds) -> tuple[int, int]:
    """First and last seed."""
    if isinstance(seeds, range) and seeds.step == 1 and len(seeds) > 0:
        seeds = (seeds[0], seeds[-1])
    if isinstance(seeds, tuple) and len(seeds) == 2:
        first, last = (whole_in(s, "a seed of seeds", 0, MAX_SEED) for s in seeds)
        return _hilo.parse_seeds(f"{first}..{last}")
    if isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool):
        return _hilo.parse_seeds(str(int(seeds)))
    if isinstance(seeds, str):
        return _hilo.parse_seeds(seeds)
    raise Error(
        f"seeds is {seeds!r}, but must be their number, as in 10, or the first and the last one, "
        "as in (10, 19)",
        Errc.usage,
    )
