"""A cheap simulator that is put into a cell starts anywhere in it."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import hilo
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from hilo.gymnasium_source import Cells
from hilo.sides import make_side

CELLS = hilo.Grid([0.0], [1.0], [5])


class Slide(gymnasium.Env[Any, Any]):
    """A point on [0, 1] that moves to the right, a little at a time; it ends at 1."""

    def __init__(self, stride: float) -> None:
        self.observation_space = Box(0, 1, (1,), dtype=np.float64)
        self.action_space = Discrete(2)
        self.stride, self.at = stride, 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = float(options["state"][0]) if options else 0.0
        return np.array([self.at]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at = min(1.0, self.at + self.stride * (1 + int(action) / 10))
        return np.array([self.at]), 0.0, self.at >= 1, False, {}


def low(stride: float, **options: Any) -> Any:
    return make_side(hilo.wrap(Slide(stride), **options), "low")


def test_points_lie_in_their_cells_and_depend_on_the_seed_alone() -> None:
    space = Box(np.array([-1, -2]), np.array([1, 2]), dtype=np.float32)
    cells = Cells(space, hilo.Grid.of(space, [3, 7]), "observation", "grid")
    assert cells.grid is not None
    for index in range(cells.size):
        points = [cells.drawn(index, seed) for seed in range(50)]
        assert all(cells.index(p) == index and space.contains(p) for p in points)
        assert len({tuple(p) for p in points}) == 50
        assert np.array_equal(points[7], cells.drawn(index, 7))


def test_points_cover_a_cell_evenly() -> None:
    space = Box(0, 1, (1,), dtype=np.float64)
    cells = Cells(space, CELLS, "observation", "grid")
    x = np.array([cells.drawn(2, seed)[0] for seed in range(4000)])
    assert x.min() >= 0.4 and x.max() < 0.6
    # Uniform on a width of 0.2: the mean is 0.5 with a standard error of 0.2 / sqrt(12 * 4000) =
    # 0.00091, the second moment about it is 0.2^2 / 12 with a standard error of
    # 0.2^2 / sqrt(180 * 4000) = 0.000047. Five standard errors are allowed, which is one false
    # alarm in 1.7 million. The seeds are fixed.
    assert abs(x.mean() - 0.5) < 5 * 0.00091
    assert abs(np.mean((x - 0.5) ** 2) - 0.04 / 12) < 5 * 0.000047


def test_whole_numbers_stay_whole() -> None:
    space = MultiDiscrete([7])
    cells = Cells(space, hilo.Grid.of(space, [3]), "observation", "grid")
    seen = [sorted({int(cells.drawn(i, seed)[0]) for seed in range(60)}) for i in range(3)]
    assert seen == [[0, 1], [2, 3, 4], [5, 6]]


def test_a_step_may_leave_the_cell() -> None:
    # From the centre of a cell of width 0.2, a step of 0.05 never leaves the cell. From a uniformly
    # drawn point, one step in four does.
    with pytest.warns(UserWarning, match="stay in their cell"):
        side = low(0.05, grid=CELLS)
    source, n = side.source, 2000
    left = 0
    for seed in range(n):
        source.put(2, seed)
        left += source.step(0)[0] == 3
    # The standard error is sqrt(0.25 * 0.75 / 2000) = 0.0097. Four of them are one false alarm in
    # 16,000.
    assert abs(left / n - 0.25) < 4 * 0.0097


def test_it_warns_where_steps_lead_nowhere_and_only_there() -> None:
    with pytest.warns(UserWarning, match="stay in their cell.*more bins.*hold=k"):
        low(0.02, grid=CELLS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low(0.02, grid=hilo.Grid([0.0], [1.0], [60]))
        low(0.02, grid=CELLS, hold=10)


def test_the_same_seed_gives_the_same_bits() -> None:
    def q_values() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = hilo.train(
                hilo.wrap(Slide(0.05), grid=CELLS),
                hilo.wrap(Slide(0.06), grid=CELLS),
                agent=[{"kind": "bayes", "low_samples": 5}, "mfmcrl+"],
                episodes=5,
                seeds=1,
                progress=False,
            )
        return [study.policy(agent, 0).q.tobytes() for agent in study.agents]

    assert q_values() == q_values()


def test_runs_from_the_centre_are_not_taken_for_these() -> None:
    given = {"grid": hilo.Grid([0.0], [1.0], [60]), "identity": "slide"}
    assert low(0.02, **given).text == "slide drawn in cells"
    assert make_side(hilo.wrap(Slide(0.02), **given), "high").text == "slide"
