"""Tables of transitions as native problems."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _hilo
from ._checks import flag, number_in, numbers, whole_in, whole_numbers
from ._errors import Error
from ._hilo import Errc, Model, TabularMdp

# (probability, next state, reward, done), as in Gymnasium's toy-text environments.
Transition = tuple[float, int, float, bool]
Table = Mapping[int, Mapping[int, Sequence[Transition]]]


def from_dense(
    transitions: ArrayLike,
    rewards: ArrayLike,
    start: ArrayLike,
    terminal: ArrayLike = (),
) -> TabularMdp:
    """An MDP from dense arrays.

    ``transitions`` has the shape (states, actions, states), ``rewards`` has the same shape or
    (states, actions), and ``start`` has a probability for every state. Terminal states are
    absorbing, whatever their rows contain.
    """
    p = numbers(transitions, "transitions")
    if p.ndim != 3 or p.shape[0] != p.shape[2]:
        raise Error(
            f"transitions has shape {p.shape}, but must have (states, actions, states)", Errc.data
        )
    r = numbers(rewards, "rewards")
    if r.shape not in (p.shape, p.shape[:2]):
        raise Error(
            f"rewards has shape {r.shape}, but must have {p.shape[:2]} or {p.shape}", Errc.data
        )
    if r.ndim == 2:
        r = np.broadcast_to(r[:, :, None], p.shape)
    states, actions, _ = p.shape
    used = p != 0
    counts = used.reshape(states * actions, states).sum(axis=1)
    return TabularMdp.from_arrays(
        actions,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.nonzero(used)[2].astype(np.uint32),
        p[used],
        np.ascontiguousarray(r[used]),
        numbers(start, "start"),
        np.unique(whole_numbers(terminal, "terminal", states)),
    )


def project(rows: ArrayLike, projection: str = "simplex") -> NDArray[np.float64]:
    """Projects noisy rows onto probabilities, as for the low fidelity of the random MDP.

    ``rows`` is one row, or an array whose last axis holds rows, such as (states, actions, states).
    Entries may be negative, but every row must sum to one: add noise, divide by the sum, then
    project. "simplex" gives the nearest distribution; "bisection" gives the distribution of a
    binary search in the cumulative sums of the noisy row; "clip" sets negative entries to 0 and
    scales the rest (docs/departures.md).

    >>> hilo.project([0.5, 0.75, -0.25])
    array([0.375, 0.625, 0.   ])
    """
    signed = numbers(rows, "rows")
    if signed.ndim == 0 or signed.shape[-1] == 0:
        raise Error(f"rows has shape {signed.shape}, but must hold rows", Errc.data)
    if not isinstance(projection, str):
        raise Error(
            f"projection is {projection!r}, but must be one of simplex, bisection, clip", Errc.spec
        )
    flat = signed.reshape(-1, signed.shape[-1])
    out = [_hilo.project(row, projection) for row in flat]
    return np.array(out, dtype=np.float64).reshape(signed.shape)


class TableMdp:
    """An MDP read from a table of transitions that flag the end of an episode.

    A state that is entered only with ``done`` is terminal. A state that is entered with and without
    ``done`` gets a terminal copy after all other states: ``ended[state]``. Outcomes of a
    state-action pair with the same successor are merged: their probabilities add up, and the reward
    is their mean.
    """

    def __init__(self, table: Table, start: ArrayLike) -> None:
        if not isinstance(table, Mapping) or not all(isinstance(r, Mapping) for r in table.values()):
            raise Error(
                "the table must be a dict of dicts: table[state][action] = [(probability, next, "
                "reward, done), ...]",
                Errc.data,
            )
        n = len(table)
        if n == 0 or set(table) != set(range(n)):
            raise Error(
                f"the table has {n} states, but they must be numbered 0, 1, ... without gaps",
                Errc.data,
            )
        actions = len(table[0])
        with_done: set[int] = set()
        for s in range(n):
            if set(table[s]) != set(range(actions)):
                raise Error(
                    f"state {s} has the actions {sorted(table[s])}, but must have 0 to "
                    f"{actions - 1}, as many as state 0",
                    Errc.data,
                )
            for a in range(actions):
                if isinstance(table[s][a], (str, bytes)) or not isinstance(table[s][a], Sequence):
                    raise Error(
                        f"state {s}, action {a}: {table[s][a]!r} must be a list of outcomes",
                        Errc.data,
                    )
                for outcome in table[s][a]:
                    self._check(outcome, s, a, n)
                    if outcome[3] and outcome[0] > 0:
                        with_done.add(int(outcome[1]))
        starts = numbers(start, "start")
        if starts.shape != (n,):
            raise Error(f"start has shape {starts.shape}, but must have ({n},)", Errc.data)
        reached = self._reached(table, actions, {int(s) for s in np.nonzero(starts)[0]})
        both = sorted(with_done & reached)
        self.ended: dict[int, int] = {s: n + i for i, s in enumerate(both)}
        self.num_observations = n
        terminal = sorted((with_done - reached) | set(self.ended.values()))
        self.mdp = self._build(table, starts, terminal, actions)

    @staticmethod
    def _reached(table: Table, actions: int, starts: set[int]) -> set[int]:
        """States that an episode can go through without ending there."""
        reached = set(starts)
        todo = list(starts)
        while todo:
            s = todo.pop()
            for outcome in (t for a in range(actions) for t in table[s][a] if t[0] > 0):
                if not outcome[3] and int(outcome[1]) not in reached:
                    reached.add(int(outcome[1]))
                    todo.append(int(outcome[1]))
        return reached

    @staticmethod
    def _check(outcome: Any, s: int, a: int, n: int) -> None:
        where = f"state {s}, action {a}: "
        if not isinstance(outcome, Sequence) or isinstance(outcome, str) or len(outcome) != 4:
            raise Error(
                f"{where}{outcome!r} must be (probability, next, reward, done)", Errc.data
            )
        probability, following, reward, done = outcome
        number_in(probability, where + "probability", 0, 1 + 1e-9, Errc.data)
        whole_in(following, where + "next state", 0, n - 1, Errc.data)
        number_in(reward, where + "reward", -math.inf, math.inf, Errc.data)
        flag(done, where + "done", Errc.data)

    def _build(
        self, table: Table, start: NDArray[np.float64], terminal: list[int], actions: int
    ) -> TabularMdp:
        n = self.num_observations
        absorbing = set(terminal)
        offsets = [0]
        columns: tuple[list[int], list[float], list[float]] = ([], [], [])
        for s in range(n + len(self.ended)):
            for a in range(actions):
                row: dict[int, list[float]] = {}
                for p, following, reward, done in (
                    table[s][a] if s < n and s not in absorbing else ()
                ):
                    if p == 0:
                        continue
                    to = int(following)
                    entry = row.setdefault(self.ended.get(to, to) if done else to, [0.0, 0.0])
                    entry[0] += float(p)
                    entry[1] += float(p) * float(reward)
                total = sum(entry[0] for entry in row.values())
                for to in sorted(row):
                    p, weighted = row[to]
                    columns[0].append(to)
                    # Probabilities such as 1/3 may not add up to exactly one. They are
                    # normalised if the difference is a rounding error.
                    columns[1].append(p / total if abs(total - 1) < 1e-9 else p)
                    columns[2].append(weighted / p)
                offsets.append(len(columns[0]))
        return TabularMdp.from_arrays(
            actions,
            np.asarray(offsets, dtype=np.int64),
            np.asarray(columns[0], dtype=np.uint32),
            np.asarray(columns[1], dtype=np.float64),
            np.asarray(columns[2], dtype=np.float64),
            np.concatenate([start, np.zeros(len(self.ended))]),
            np.asarray(terminal, dtype=np.uint32),
        )


def from_table(table: Table, start: ArrayLike) -> TabularMdp:
    """An MDP from ``table[state][action] = [(probability, next, reward, done), ...]``.

    That is ``env.unwrapped.P`` of Gymnasium's toy-text environments; ``start`` is their
    ``initial_state_distrib``. A state that is entered only with ``done`` is terminal. A state that
    is entered with and without ``done`` gets a terminal copy after all other states. Outcomes of a
    state-action pair with the same successor are merged: their probabilities add up, and the reward
    is their mean.
    """
    return TableMdp(table, start).mdp


def content_hash(model: Model) -> str:
    """A hash of the content of a table, as 16 hex digits."""
    digest = hashlib.sha256()
    arrays = model.arrays()
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:16]
