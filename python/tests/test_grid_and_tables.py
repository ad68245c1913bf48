"""Observations as cells, tables as problems."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import hilo
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from hilo.tables import TableMdp


def test_cells_of_a_box() -> None:
    grid = hilo.Grid([0, -1], [10, 1], [5, 4])
    assert grid.size == 20
    for index in range(grid.size):
        assert grid.index(grid.centre(index)) == index
    assert grid.index([-5, 9]) == grid.index([0, 1]) == 3, "outside belongs to the edge"
    assert grid == hilo.Grid([0, -1], [10, 1], [5, 4]) != hilo.Grid([0, -1], [10, 1], [4, 5])


def test_a_grid_of_a_space() -> None:
    box = Box(np.array([-1, -np.inf]), np.array([1, np.inf]), dtype=np.float64)
    with pytest.raises(hilo.Error, match="must be finite.*give low= and high="):
        hilo.Grid.of(box, 4)
    assert hilo.Grid.of(box, 4, low=[-1, -2], high=[1, 2]).size == 16
    whole = hilo.Grid.of(MultiDiscrete([3, 5], start=[1, 0]))
    assert whole.size == 15 and whole.index([1, 4]) == 4
    coarse = hilo.Grid.of(MultiDiscrete([3, 5]), [3, 2])
    for index in range(coarse.size):
        assert coarse.index(coarse.centre(index)) == index
        assert coarse.centre(index).tolist() == np.rint(coarse.centre(index)).tolist()
    with pytest.raises(hilo.Error, match="not for Discrete"):
        hilo.Grid.of(Discrete(3), 3)
    with pytest.raises(hilo.Error, match="needs bins="):
        hilo.Grid.of(Box(0, 1, (1,)))
    with pytest.raises(hilo.Error, match="has only"):
        hilo.Grid.of(MultiDiscrete([3]), [4])


def test_t_between_grids() -> None:
    fine, coarse = hilo.Grid([0, 0], [1, 1], [4, 4]), hilo.Grid([0, 0], [1, 1], [2, 1])
    assert fine.map_to(coarse).tolist() == [0] * 8 + [1] * 8
    with pytest.raises(hilo.Error, match="must be given as map="):
        fine.map_to(hilo.Grid([0], [1], [4]))


@pytest.mark.parametrize(
    "arguments",
    [([0], [1], [0]), ([0], [0], [3]), ([0], [1], [1.5]), ([0, 0], [1], [3]), ([0], [1], [2**31])],
)
def test_bad_grids(arguments: tuple[list[float], list[float], list[int]]) -> None:
    with pytest.raises(hilo.Error) as error:
        hilo.Grid(*arguments)
    assert error.value.code is hilo.Errc.spec


def test_bad_observations() -> None:
    grid = hilo.Grid([0, 0], [1, 1], [2, 2])
    for bad, why in (([np.nan, 0], "no number"), ([1, 2, 3], "3 numbers"), (["a", "b"], "numbers")):
        with pytest.raises(hilo.Error, match=why):
            grid.index(bad)


@pytest.mark.parametrize(
    ("name", "states", "terminal"),
    [("FrozenLake-v1", 16, 5), ("Taxi-v3", 500, 4), ("CliffWalking-v0", 48, 1)],
)
def test_a_toy_text_table_is_the_environment(name: str, states: int, terminal: int) -> None:
    stem = name.rsplit("-", 1)[0]
    newest = [spec for spec in gymnasium.registry if spec.startswith(stem + "-v")][-1]
    inner = gymnasium.make(newest).unwrapped
    mdp = hilo.from_table(inner.P, inner.initial_state_distrib)
    assert mdp.num_states == states
    assert len(mdp.terminal) == terminal
    simulator = hilo.make_simulator(mdp)
    for seed in range(20):
        episode = simulator.run_episode(seed=seed, max_steps=200)
        for s, a, r, following in zip(
            episode.states, episode.actions, episode.rewards, episode.states[1:]
        ):
            outcomes = [t for t in inner.P[int(s)][int(a)] if int(t[1]) == following]
            assert any(t[2] == r for t in outcomes)
        last = inner.P[int(episode.states[-2])][int(episode.actions[-1])]
        done = any(t[3] for t in last if int(t[1]) == episode.states[-1])
        assert done != episode.truncated


def test_a_state_that_ends_only_sometimes_gets_a_copy() -> None:
    table = {
        0: {0: [(0.5, 1, 0.0, False), (0.5, 1, 1.0, True)]},
        1: {0: [(1.0, 0, 0.0, False)]},
    }
    made = TableMdp(table, [1, 0])
    assert made.ended == {1: 2} and made.mdp.terminal.tolist() == [2]
    assert made.mdp.outcomes(0, 0) == [(1, 0.5, 0.0), (2, 0.5, 1.0)]


def test_outcomes_with_one_successor_are_merged() -> None:
    table = {
        0: {0: [(0.25, 0, 4.0, False), (0.25, 0, 0.0, False), (0.5, 1, 0.0, True)]},
        1: {0: [(1.0, 1, 0.0, True)]},
    }
    assert hilo.from_table(table, [1, 0]).outcomes(0, 0) == [(0, 0.5, 2.0), (1, 0.5, 0.0)]


def test_bad_tables() -> None:
    with pytest.raises(hilo.Error, match="without gaps"):
        hilo.from_table({0: {0: []}, 2: {0: []}}, [1, 0])
    with pytest.raises(hilo.Error, match="next state is 7"):
        hilo.from_table({0: {0: [(1.0, 7, 0.0, False)]}}, [1])
    with pytest.raises(hilo.Error, match="start has shape"):
        hilo.from_table({0: {0: [(1.0, 0, 0.0, True)]}}, [1, 0])
    with pytest.raises(hilo.Error, match="shape"):
        hilo.from_dense(np.zeros((2, 2)), np.zeros((2, 2)), [1, 0])


def test_other_spaces_are_refused() -> None:
    class Strange(gymnasium.Env):  # type: ignore[type-arg]
        observation_space = Dict({"a": Discrete(2)})
        action_space = Discrete(2)

    with pytest.raises(hilo.Error, match="must be Discrete, or Box or MultiDiscrete"):
        hilo.train(Strange())
    with pytest.raises(hilo.Error, match=r"mcrl needs states and actions that are numbered.*grid"):
        hilo.train(gymnasium.make("CartPole-v1"), agent="mcrl")
    with pytest.raises(hilo.Error, match="has 1 dimensions, but the observation space"):
        hilo.train(hilo.wrap(gymnasium.make("CartPole-v1"), grid=hilo.Grid([0], [1], [3])))
    with pytest.raises(hilo.Error, match="action_grid"):
        hilo.train(
            hilo.wrap(gymnasium.make("Pendulum-v1"), grid=hilo.Grid([0] * 3, [1] * 3, [2] * 3))
        )


def test_projections_are_those_of_the_random_mdp() -> None:
    rows = np.array([[0.5, 0.75, -0.25], [0.25, 0.5, 0.25]])
    assert hilo.project(rows[0]).tolist() == [0.375, 0.625, 0.0]
    assert np.allclose(hilo.project(rows[0], "clip"), [0.4, 0.6, 0.0])
    assert hilo.project([0.5, -0.25, 0.75], "bisection").tolist() == [0.25, 0.0, 0.75]
    assert hilo.project(rows).shape == rows.shape
    assert hilo.project(rows)[1].tolist() == rows[1].tolist(), "a distribution stays what it is"
    deep = np.stack([rows, rows])
    assert np.array_equal(hilo.project(deep, "clip")[1], hilo.project(rows, "clip"))
    for bad in ([0.5, 0.2], [], 3, [float("nan"), 1], ["x"], np.zeros((2, 0))):
        with pytest.raises(hilo.Error) as error:
            hilo.project(bad)
        assert error.value.code is hilo.Errc.data
    with pytest.raises(hilo.Error, match="one of simplex, bisection, clip"):
        hilo.project(rows, "sort")


def test_a_table_for_every_seed(tmp_path: Path) -> None:
    for seed in range(3):
        mdp = hilo.make_random_mdp(6 + seed, 2, start_states=2, seed=seed)
        simulator = hilo.make_simulator(mdp)
        hilo.Fidelities(simulator, simulator).save(tmp_path / f"tab-{seed}")
    folder = str(tmp_path / "tab-{seed}")
    assert hilo.build_problem("table", seed=2, folder=folder).high.num_states == 8
    study = hilo.train(
        hilo.build_problem("table", folder=folder),
        agent="mcrl",
        episodes=20,
        seeds=3,
        progress=False,
    )
    assert [len(study.policy("MCRL", seed).q) for seed in range(3)] == [6, 7, 8]
    assert "MCRL" in str(study) and study.findings()
    study.report(tmp_path / "page.html")
    with pytest.raises(hilo.Error, match="tab-3"):
        hilo.build_problem("table", seed=3, folder=folder)
    with pytest.raises(hilo.Error, match="folder of seed 3 is .*tab-3"):
        hilo.train(
            hilo.build_problem("table", folder=folder), agent="mcrl", episodes=20, seeds=4
        )
    with pytest.raises(hilo.Error, match="{agent} is no placeholder"):
        hilo.build_problem("table", folder="tab/{agent}")
