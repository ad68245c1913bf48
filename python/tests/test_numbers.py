"""Nothing is answered that was not asked: names and numbers that are none are errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hilo
import numpy as np
import pytest
from conftest import WalkEnv, sure_walk, walk

WALK: dict[str, Any] = {"states": 10, "actions": 2, "start": 0}
QUICK: dict[str, Any] = {"episodes": 40, "seeds": 2, "progress": False}
NAN = math.nan


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hilo.Study:
    file = tmp_path_factory.mktemp("numbers") / "walk.db"
    return hilo.train(
        hilo.wrap(walk, **WALK), hilo.wrap(sure_walk, **WALK), name="walk", store=file, **QUICK
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.final("zz", "train_return"),
        lambda r: r.final("MCRL", "zz"),
        lambda r: r.final("MCRL", "correlation"),  # MFMCRL+ has this metric, MCRL does not
        lambda r: r.final_values("zz", "train_return"),
        lambda r: r.at("zz", "train_return", 40),
        lambda r: r.at("MCRL", "zz", 40),
        lambda r: r.at("MCRL", "train_return", 41),
        lambda r: r.paired_difference("zz", "MCRL", "train_return"),
        lambda r: r.paired_difference("MFMCRL+", "zz", "train_return"),
        lambda r: r.paired_difference("MFMCRL+", "MCRL", "zz"),
        lambda r: r.episodes("zz", "train_return"),
        lambda r: r.episodes("MCRL", "zz"),
        lambda r: r.seeds("zz"),
        lambda r: r.learning_table("zz"),
        lambda r: r.difference_table("zz"),
        lambda r: hilo.summarise(np.zeros(0)),
    ],
)
def test_unknown_names_have_no_numbers(study: hilo.Study, ask: Callable[[Any], Any]) -> None:
    with pytest.raises(hilo.Error) as error:
        ask(study.results)
    assert error.value.code is hilo.Errc.usage


def test_names_that_a_study_does_not_have(study: hilo.Study, tmp_path: Path) -> None:
    file = study.store.file
    with pytest.raises(hilo.Error, match="no experiment 'wlak'; did you mean 'walk'"):
        hilo.Study(file, "wlak")
    with pytest.raises(hilo.Error, match="no metric 'zz'"):
        study.plot(metric="zz")
    with pytest.raises(hilo.Error, match="no agent 'zz'"):
        study.policy("zz")
    with pytest.raises(hilo.Error, match="seed 77"):
        study.policy("MCRL", 77)
    with pytest.raises(hilo.Error, match="no agent 'zz'"):
        study.difference("MFMCRL+", "zz")
    store = study.store
    for ask in (
        store.results,
        store.agents,
        store.status,
        store.columns,
        store.failed_runs,
        store.spec,
        store.findings,
        store.diagnosis,
        lambda name: store.policy(name, "MCRL", 0),
    ):
        with pytest.raises(hilo.Error, match="no experiment 'zz'"):
            ask("zz")
    assert store.diagnosis("walk") == "", "there is none, but there could be"


@pytest.mark.parametrize("observation", [1.7, "3", True, -1, 10, None, [1, 2]])
def test_a_policy_takes_states_alone(study: hilo.Study, observation: Any) -> None:
    with pytest.raises(hilo.Error, match="the observation"):
        study.policy("MCRL", 0)(observation)
    assert study.policy("MCRL", 0)(np.int64(3)) in (0, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"returns": NAN},
        {"returns": math.inf},
        {"cost_high": NAN, "cost_low": 1},
        {"cost_high": 5},
        {"gamma": NAN},
        {"epsilon": 1.5},
        {"epsilon": "0.1"},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": 2**63},
        {"episodes": 0},
        {"episodes": 10.5},
        {"low_rollouts": -3},
        {"train_episodes": 0},
        {"max_steps": 0},
        {"policy": 3},
    ],
)
def test_diagnose_refuses_what_is_no_number(arguments: dict[str, Any]) -> None:
    with pytest.raises(hilo.Error) as error:
        hilo.diagnose(walk, sure_walk, **WALK, progress=False, **arguments)
    assert error.value.code is hilo.Errc.usage
    assert any(name in str(error.value) for name in arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"seeds": -1},
        {"seeds": (1.7, 3)},
        {"seeds": (-2, 3)},
        {"seeds": (0, 2**63)},
        {"seeds": 2**64},
        {"seeds": 1.5},
        {"threads": -1},
        {"threads": 1.5},
        {"threads": 10**6},
        {"episodes": 2.5},
        {"gamma": NAN},
        {"epsilon": NAN},
        {"max_steps": -1},
        {"test_episodes": -1},
    ],
)
def test_train_refuses_what_is_no_number(arguments: dict[str, Any]) -> None:
    with pytest.raises(hilo.Error):
        hilo.train(hilo.wrap(walk, **WALK), agent="mcrl", **{**QUICK, **arguments})


def table(**changes: Any) -> dict[int, dict[int, list[Any]]]:
    """Two states; ``changes`` replace a part of the only outcome of (0, 0)."""
    row = {"probability": 1.0, "next": 1, "reward": 1.0, "done": True, **changes}
    return {0: {0: [tuple(row.values())]}, 1: {0: [(1.0, 1, 0.0, True)]}}


@pytest.mark.parametrize(
    "changes",
    [
        {"next": 1.5},
        {"next": "1"},
        {"next": True},
        {"next": 2},
        {"next": -1},
        {"probability": NAN},
        {"probability": "1"},
        {"probability": -0.5},
        {"probability": 1.5},
        {"reward": NAN},
        {"reward": "1"},
        {"reward": math.inf},
        {"done": "no"},
        {"done": 2},
    ],
)
def test_tables_name_the_pair_that_is_wrong(changes: dict[str, Any]) -> None:
    assert hilo.from_table(table(), [1, 0]).num_states == 2
    with pytest.raises(hilo.Error, match="state 0, action 0") as error:
        hilo.from_table(table(**changes), [1, 0])
    assert error.value.code is hilo.Errc.data


@pytest.mark.parametrize(
    "changes",
    [
        {"start": [NAN, 1]},
        {"start": ["a", "b"]},
        {"terminal": [1.5]},
        {"terminal": [-1]},
        {"terminal": [2]},
        {"terminal": ["1"]},
        {"rewards": [[NAN], [0]]},
        {"rewards": [["x"], ["y"]]},
        {"transitions": [[[NAN, 1]], [[0, 1]]]},
    ],
)
def test_dense_tables_hold_numbers(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "transitions": [[[0, 1]], [[0, 1]]],
        "rewards": [[1], [0]],
        "start": [1, 0],
        "terminal": [1],
    }
    assert hilo.from_dense(**good).num_states == 2
    with pytest.raises(hilo.Error) as error:
        hilo.from_dense(**{**good, **changes})
    assert error.value.code is hilo.Errc.data
    with pytest.raises(hilo.Error):
        hilo.from_table(table(), changes.get("start", [NAN, 1]))


@pytest.mark.parametrize("cell", [1.5, "1", -1, 6])
def test_cells_are_whole_numbers(cell: Any) -> None:
    with pytest.raises(hilo.Error, match="cell is"):
        hilo.Grid([0], [1], [6]).centre(cell)


def test_states_and_actions_in_arrays_are_whole_numbers() -> None:
    pair = hilo.build_problem("random-mdp").pair
    states, model = pair.high.num_states, pair.high.model
    assert hilo.StateMap(np.array([0, 1]), 3).low_of.tolist() == [0, 1]
    for bad in (np.array([0.5, 1.2]), np.array([True, False]), np.array([-1, 1])):
        with pytest.raises((TypeError, hilo.Error)):
            hilo.StateMap(bad, 3)
        with pytest.raises((TypeError, hilo.Error)):
            pair.low.roll_out(bad, np.zeros(2, dtype=np.int64))
    with pytest.raises((TypeError, hilo.Error)):
        hilo.evaluate_policy(model, np.full(states, 0.5), 0.9)
    with pytest.raises(hilo.Error, match="gamma is nan"):
        hilo.discounted_returns(np.ones(3), NAN)
    with pytest.raises(hilo.Error, match="best_variance is nan"):
        hilo.greedy_is_best_bound(NAN, [(1.0, 1.0)])


def test_notes_of_a_spec_are_warnings() -> None:
    with pytest.warns(UserWarning, match="it is the same agent as"):
        twice = hilo.train(WalkEnv(), agent=["mcrl", "mcrl"], **QUICK)
    assert twice.agents == ["MCRL"]
    named = hilo.train(WalkEnv(), agent=["mcrl", {"kind": "mcrl", "label": "again"}], **QUICK)
    assert named.agents == ["MCRL", "again"]
    assert named.final("again").mean == named.final("MCRL").mean
    with pytest.warns(UserWarning, match="also stands for projection"):
        hilo.train(
            hilo.wrap(walk, **WALK),
            hilo.wrap(sure_walk, **WALK),
            agent={"kind": "mfmcrl", "variant": "as-published"},
            max_steps=20,
            truncation="terminal",
            **QUICK,
        )
