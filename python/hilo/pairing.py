"""Two fidelities as the pair that agents are trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _hilo
from ._checks import whole_numbers
from ._errors import Error
from ._hilo import (
    EpisodesOnly,
    Errc,
    Fidelities,
    Problem,
    PythonSimulator,
    Simulator,
    StateMap,
)
from .gymnasium_source import GymnasiumSource
from .sides import Side, make_side, native_side
from .wrapping import for_role


def _map_of_observations(high: Side, low: Side, map: Any) -> NDArray[np.uint32]:
    n = high.num_observations
    if map is None:
        if high.grid is not None and low.grid is not None:
            return high.grid.map_to(low.grid)
        if n != low.num_observations:
            raise Error(
                f"the high fidelity has {n} states and the low fidelity {low.num_observations}: "
                "give map=, the low-fidelity state of every high-fidelity one",
                Errc.spec,
            )
        return np.arange(n, dtype=np.uint32)
    values = [map(s) for s in range(n)] if callable(map) else map
    out = whole_numbers(values, "map", low.num_observations)
    if out.size != n:
        raise Error(f"map has {out.size} entries, but the high fidelity {n} states", Errc.spec)
    return out


def _state_map(high: Side, low: Side, of: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """T over states from T over observations. Terminal states map to terminal copies, if any."""
    ends = high.simulator if isinstance(high.simulator, Simulator) else None
    out = np.empty(high.simulator.num_states, dtype=np.uint32)
    for s in range(high.num_observations):
        to = int(of[s])
        out[s] = low.ended.get(to, to) if ends is not None and ends.is_terminal(s) else to
    for s, copy in high.ended.items():
        out[copy] = low.ended.get(int(of[s]), int(of[s]))
    return out


def _with_ends_of(high: Side, low: Side, states: NDArray[np.uint32]) -> tuple[Side, Side]:
    """Finds the terminal states of a low fidelity in Python, which need not say them itself.

    A low-fidelity state is terminal if all high-fidelity states that are mapped to it are. If a
    coarse map puts terminal and other states together, their low-fidelity state is not terminal,
    and the high fidelity hides which of its states are terminal.
    """
    simulator = high.simulator
    if not isinstance(simulator, Simulator) or low.source is None:
        return high, low
    ends = {int(states[s]) for s in range(len(states)) if simulator.is_terminal(s)}
    others = {int(states[s]) for s in range(len(states)) if not simulator.is_terminal(s)}
    assert isinstance(low.simulator, PythonSimulator)
    known = {s for s in range(low.num_observations) if low.simulator.is_terminal(s)}
    number = low.simulator.num_states, low.simulator.num_actions
    terminal = sorted(known | (ends - others))
    low.source.terminal = tuple(terminal)
    made = PythonSimulator(low.source, *number, terminal)
    if ends & others - known:
        high = replace(high, simulator=EpisodesOnly(simulator))
    return high, replace(low, simulator=made)


@dataclass
class Pairing:
    """A pair of fidelities, with what the package knows about each side."""

    pair: Fidelities
    high: Side
    low: Side
    map_text: str

    @property
    def is_native(self) -> bool:
        """Whether neither fidelity runs Python code."""
        return self.high.is_native and self.low.is_native

    @property
    def in_state_order(self) -> bool:
        """Whether both are sampled in the order of states, which common random numbers need."""
        return all(
            getattr(side.simulator, "_sampling", "alias") == "inverse-cdf"
            for side in (self.high, self.low)
        )

    @property
    def shares_environment(self) -> bool:
        """Whether both fidelities are the same environment, which can run only one at a time."""
        environments = [
            getattr(side.source.env, "unwrapped", side.source.env)
            for side in (self.high, self.low)
            if isinstance(side.source, GymnasiumSource)
        ]
        return len(environments) == 2 and environments[0] is environments[1]


def make_pairing(high: Any, low: Any, map: Any = None, **options: Any) -> Pairing:
    """Makes a pair of any two simulators. ``options`` are those of wrap, for both."""
    if isinstance(high, Fidelities):
        if low is not None or map is not None or options:
            raise Error("high already has its low fidelity, its map and all else", Errc.usage)
        sides = native_side(high.high, "high"), native_side(high.low, "low")
        return Pairing(high, *sides, _hilo.hash_hex(str(high.map.low_of.tolist())))
    high_side = make_side(high, "high", for_role(options, "high"))
    low_side = make_side(low, "low", options)
    if isinstance(high, Problem) and low is high and map is None:
        return Pairing(high.pair, high_side, low_side, "")
    k, l = high_side.simulator.num_actions, low_side.simulator.num_actions
    if k != l:
        raise Error(
            f"the high fidelity has {k} actions and the low fidelity {l}, but they must have the "
            "same",
            Errc.spec,
        )
    of = _map_of_observations(high_side, low_side, map)
    states = _state_map(high_side, low_side, of)
    high_side, low_side = _with_ends_of(high_side, low_side, states)
    assert isinstance(low_side.simulator, Simulator)
    num_low = low_side.simulator.num_states
    pair = Fidelities(high_side.simulator, low_side.simulator, StateMap(states, num_low))
    identity = len(states) == num_low and bool((states == np.arange(num_low)).all())
    return Pairing(pair, high_side, low_side, "" if identity else _hilo.hash_hex(str(of.tolist())))


def pair(
    high: Any, low: Any, map: ArrayLike | Callable[[int], int] | None = None, **options: Any
) -> Fidelities:
    """Two simulators as one Fidelities.

    Each may be a problem or a simulator of hilo, a Gymnasium environment or its id, or a function.
    ``options`` are those of hilo.wrap. ``map`` is T: the low-fidelity state of every high-fidelity
    state, or a function that returns it. Between two grids it follows from the grids.
    """
    return make_pairing(high, low, map, **options).pair
