"""Specs as text: what Python is given, in the words of docs/spec.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._checks import MAX_SEED, whole_in
from ._errors import Error
from ._hilo import Errc

Agents = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]
Seeds = int | tuple[int, int] | range | str


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


def agents_of(agent: Agents) -> list[dict[str, Any]]:
    """Agents as tables of a spec; "mfmcrl+" is the variant "plus" of mfmcrl."""
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


def thrifty(agent: dict[str, Any]) -> dict[str, Any]:
    return {**_THRIFTY.get(str(agent.get("kind")), {}), **agent}


def seeds_text(seeds: Seeds) -> str:
    if isinstance(seeds, range) and seeds.step == 1 and len(seeds) > 0:
        seeds = (seeds[0], seeds[-1])
    if isinstance(seeds, tuple) and len(seeds) == 2:
        first, last = (whole_in(s, "a seed of seeds", 0, MAX_SEED) for s in seeds)
        return f'"{first}..{last}"'
    if isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool):
        return str(int(seeds))
    if isinstance(seeds, str):
        return json.dumps(seeds)
    raise Error(
        f"seeds is {seeds!r}, but must be how many, as in 10, or the first and the last of them, as in "
        "(10, 19)",
        Errc.usage,
    )


def spec_text(
    name: str,
    seeds: Seeds,
    problem: Mapping[str, Any],
    train: Mapping[str, Any],
    test: Mapping[str, Any],
    agents: Sequence[Mapping[str, Any]],
) -> str:
    lines = ["spec_version = 1", f"name = {json.dumps(name)}", f"seeds = {seeds_text(seeds)}"]
    for title, table in (("[problem]", problem), ("[train]", train), ("[test]", test)):
        lines += ["", title, *(f"{key} = {_toml(value)}" for key, value in table.items())]
    for table in agents:
        lines += ["", "[[agent]]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"
