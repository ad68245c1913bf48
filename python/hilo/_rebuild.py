"""Functions that pickle calls to make objects of the engine again."""

from __future__ import annotations

from typing import Any

from . import _hilo


def part_of_problem(kind: str, parameters: dict[str, Any], seed: int, part: str) -> Any:
    problem = _hilo.build_problem(kind, seed, **parameters)
    return getattr(problem, part) if part else problem


def table(arrays: dict[str, Any]) -> _hilo.TabularMdp:
    return _hilo.TabularMdp.from_arrays(**arrays)


def simulator(mdp: _hilo.TabularMdp, sampling: str) -> _hilo.Simulator:
    return _hilo.make_simulator(mdp, sampling)


def q_table(values: Any) -> _hilo.QTable:
    return _hilo.QTable.from_values(values)


def summary(*values: Any) -> _hilo.Summary:
    return _hilo.make_summary(*values)
