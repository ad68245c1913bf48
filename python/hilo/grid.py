"""Numbered cells for continuous observations and for those with many values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import array_of, flag, whole_in
from ._errors import Error
from ._hilo import Errc


class Grid:
    """A box divided into equal cells, ``bins`` along each dimension.

    Cells are numbered with the last dimension varying fastest.

    A point outside the box belongs to the nearest cell at the edge. ``Grid.of(space, bins)`` makes
    a grid for a Gymnasium space. A cheap simulator that is put into a cell starts at a point that
    hilo's random streams draw uniformly from the cell.

    >>> grid = Grid(low=[0, -1], high=[10, 1], bins=[5, 4])
    >>> grid.size, grid.index([3.0, 0.9]), grid.centre(7)
    (20, 7, array([3.  , 0.75]))
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, bins: ArrayLike, *, whole: bool = False
    ) -> None:
        self.low = _bounds(low, "low").ravel()
        self.high = _bounds(high, "high").ravel()
        counts = array_of(bins, "bins", Errc.spec).ravel()
        self.whole = flag(whole, "whole", Errc.spec)  # representatives are whole numbers
        if not self.low.shape == self.high.shape == counts.shape:
            raise Error(
                f"low, high and bins have {self.low.size}, {self.high.size} and {counts.size} "
                "entries, but need one for each dimension",
                Errc.spec,
            )
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise Error(
                f"the grid reaches from {self.low} to {self.high}, but its bounds must be finite: "
                "give low= and high=, the range that matters; what lies outside belongs to the "
                "edge",
                Errc.spec,
            )
        if not (self.low < self.high).all():
            raise Error(f"low is {self.low}, but must be below high, {self.high}", Errc.spec)
        if not np.issubdtype(counts.dtype, np.integer) or (counts < 1).any():
            raise Error(f"bins is {counts.tolist()}, but must be whole numbers above 0", Errc.spec)
        self.bins: tuple[int, ...] = tuple(int(n) for n in counts)
        size = 1
        for n in self.bins:
            size *= n
        if size > 1 << 30:
            raise Error(f"bins is {self.bins}: {size} cells, but at most 2^30 can be", Errc.spec)
        self.size = size

    @classmethod
    def of(
        cls,
        space: Any,
        bins: int | Sequence[int] | None = None,
        *,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
    ) -> Grid:
        """A grid for a Box or MultiDiscrete space; ``low`` and ``high`` replace bounds of a Box."""
        kind = type(space).__name__
        if kind == "MultiDiscrete":
            if low is not None or high is not None:
                raise Error(
                    f"low and high have no meaning for {space}, whose values are all in the grid",
                    Errc.spec,
                )
            values = np.asarray(space.nvec).ravel()
            first = np.asarray(getattr(space, "start", np.zeros_like(values))).ravel()
            counts = values if bins is None else _for_each(bins, values.shape, "bins", space)
            if counts.dtype.kind in "iu" and (counts > values).any():
                raise Error(
                    f"bins is {bins}, but {space} has only {values.tolist()} values", Errc.spec
                )
            return cls(first - 0.5, first + values - 0.5, counts, whole=True)
        if kind != "Box":
            raise Error(f"a grid is for Box and MultiDiscrete spaces, not for {space}", Errc.spec)
        if bins is None:
            raise Error(f"{space} needs bins=: the number of cells along each dimension", Errc.spec)
        shape = np.asarray(space.low).ravel().shape
        whole = bool(np.issubdtype(space.dtype, np.integer))
        margin = 0.5 if whole else 0.0
        return cls(
            _for_each(_bounds(space.low if low is None else low, "low"), shape, "low", space)
            - margin,
            _for_each(_bounds(space.high if high is None else high, "high"), shape, "high", space)
            + margin,
            _for_each(bins, shape, "bins", space),
            whole=whole,
        )

    def _centres(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        x = self.low + (cells + 0.5) * (self.high - self.low) / np.asarray(self.bins)
        return np.asarray(np.rint(x) if self.whole else x, dtype=np.float64)

    def indices(self, observations: ArrayLike) -> NDArray[np.int64]:
        """The cells of many observations, one observation per row."""
        x = array_of(observations, "the observation", Errc.simulator)
        if x.dtype.kind not in "iufb":
            raise Error(
                f"the observation is {observations!r} of dtype {x.dtype}, but must be numbers",
                Errc.simulator,
            )
        if x.size == 0 or x.size % len(self.bins) or (x.ndim > 1 and x[0].size != len(self.bins)):
            raise Error(
                f"the observations have shape {x.shape}, but must be rows of {len(self.bins)} "
                "numbers, one for each dimension of the grid",
                Errc.simulator,
            )
        x = x.astype(np.float64).reshape(len(x) if x.ndim > 1 else -1, len(self.bins))
        if np.isnan(x).any():
            raise Error(f"the observation is {observations!r}, which is no number", Errc.simulator)
        counts = np.asarray(self.bins)
        cells = np.floor((x - self.low) / (self.high - self.low) * counts)
        cells = np.clip(cells, 0, counts - 1).astype(np.int64)
        return np.asarray(np.ravel_multi_index(tuple(cells.T), self.bins), dtype=np.int64)

    def index(self, observation: ArrayLike) -> int:
        """The cell of one observation."""
        x = array_of(observation, "the observation", Errc.simulator)
        if x.size != len(self.bins):
            raise Error(
                f"the observation {observation!r} has {x.size} numbers, but the grid "
                f"{len(self.bins)} dimensions",
                Errc.simulator,
            )
        return int(self.indices(x.reshape(1, -1))[0])

    def centre(self, index: int) -> NDArray[np.float64]:
        """The centre of a cell."""
        index = whole_in(index, "cell", 0, self.size - 1)
        return self._centres(np.asarray(np.unravel_index(index, self.bins)))

    def point(self, index: int, shares: ArrayLike) -> NDArray[np.float64]:
        """The point of a cell at a share of its width along each dimension, from 0 to below 1.

        If observations are whole numbers, it is a point of whole numbers, if the cell has any.
        """
        index = whole_in(index, "cell", 0, self.size - 1)
        u = array_of(shares, "shares", Errc.usage).ravel()
        if u.size != len(self.bins) or u.dtype.kind not in "iuf" or not ((u >= 0) & (u < 1)).all():
            raise Error(
                f"shares is {shares!r}, but must be {len(self.bins)} numbers in [0, 1)", Errc.usage
            )
        cell = np.asarray(np.unravel_index(index, self.bins))
        width = (self.high - self.low) / np.asarray(self.bins)
        lower = self.low + cell * width
        if not self.whole:
            return np.asarray(lower + u * width)
        first, last = np.ceil(lower), np.ceil(lower + width) - 1
        drawn = first + np.floor(u * (last - first + 1))
        return np.asarray(np.where(last >= first, drawn, self._centres(cell)))

    def map_to(self, other: Grid) -> NDArray[np.uint32]:
        """The map T: the cell of the other grid that holds the centre of each cell of this one."""
        if not isinstance(other, Grid):
            raise Error(f"other is {other!r}, but must be a hilo.Grid", Errc.usage)
        if len(self.bins) != len(other.bins):
            raise Error(
                f"T between grids of {len(self.bins)} and {len(other.bins)} dimensions must be "
                "given as map=",
                Errc.spec,
            )
        cells = np.stack(np.unravel_index(np.arange(self.size), self.bins), axis=1)
        return other.indices(self._centres(cells)).astype(np.uint32)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        whole = ", whole=True" if self.whole else ""
        return (
            f"Grid(low={self.low.tolist()}, high={self.high.tolist()}, "
            f"bins={list(self.bins)}{whole})"
        )


def _bounds(values: ArrayLike, what: str) -> NDArray[np.float64]:
    array = array_of(values, what, Errc.spec)
    if array.dtype.kind not in "iuf":
        raise Error(f"{what} is {values!r}, but must be a number for each dimension", Errc.spec)
    return np.atleast_1d(array.astype(np.float64))


def _for_each(values: ArrayLike, shape: tuple[int, ...], what: str, space: Any) -> NDArray[Any]:
    """One value for each dimension. A single value is repeated for all."""
    array = array_of(values, what, Errc.spec).ravel()
    if array.shape not in (shape, (1,)):
        raise Error(
            f"{what} has {array.size} entries, but {space} has {shape[0]} dimensions", Errc.spec
        )
    return np.broadcast_to(array, shape)
