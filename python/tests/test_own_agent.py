"""Agents that users write in Python: a subclass of hilo.Agent."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import hilo

SPEC = """
spec_version = 1
name = "own-agent"
seeds = 2

[problem]
kind = "random-mdp"
states = 20
actions = 3

[train]
episodes = 200

[test]
every = 100
episodes = 20
exact_every = 100

[[agent]]
kind = "mcrl"

[[agent]]
kind = "last-return"
sweep.trust = [0.1, 0.5]
"""


@hilo.add_agent_kind
class LastReturn(hilo.Agent):
    """values are the last returns, more or less"""

    display = "last return"
    parameters = {"trust": (0.5, 0, 1)}  # noqa: RUF012

    def __init__(self, fidelities: hilo.Fidelities, setting: Any, trust: float):
        self.table = np.zeros((fidelities.high.num_states, fidelities.num_actions))
        self.trust, self.gamma = trust, setting.gamma
        self.values = self.q = None  # names of hilo.Agent's properties can be used
        assert repr(self)

    def learn(self, episode: hilo.Episode) -> None:  # type: ignore[override]
        g = 0.0
        for s, a, r in reversed(list(zip(episode.states, episode.actions, episode.rewards))):
            g = self.gamma * g + r
            self.table[s, a] += self.trust * (g - self.table[s, a])

    def act(self, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return self.table[states].argmax(axis=1)

    def save(self) -> bytes:
        return self.table.tobytes()

    def load(self, state: bytes) -> None:
        self.table = np.frombuffer(state).reshape(self.table.shape).copy()


def test_a_spec_runs_it_and_store_and_page_show_it(tmp_path: Path) -> None:
    study = hilo.run(SPEC, store=tmp_path / "s.db")
    assert sorted(study.agents) == ["MCRL", "last return", "last return trust=0.1"]
    page = study.report(tmp_path / "page.html")
    assert "last return trust=0.1" in Path(page).read_text()
    assert hilo.agent_kinds()["last-return"]["description"].startswith("values are the last")
    # It learns: the exact value rises.
    for agent in study.agents:
        values = study.results.at(agent, "policy_value", 200).mean
        assert values > study.results.at(agent, "policy_value", 0).mean
    assert hilo.run(SPEC, store=tmp_path / "s.db").agents == study.agents  # nothing to do


def test_it_acts_as_it_says_and_goes_on_after_a_load() -> None:
    problem = hilo.build_problem("random-mdp", states=20, actions=3)
    whole = hilo.Agent("last-return", problem.pair, seed=3, trust=0.2)
    whole.train(60, test_every=60, test_episodes=0)
    half = hilo.Agent("last-return", problem.pair, seed=3, trust=0.2)
    half.train(30, test_every=60, test_episodes=0)
    again = hilo.Agent("last-return", problem.pair, seed=3, trust=0.2)
    again.load(half.save())
    assert again.episodes == 30
    again.train(60, test_every=60, test_episodes=0)
    assert np.array_equal(again.values, whole.values)
    assert again.save() == whole.save()
    assert np.array_equal(pickle.loads(pickle.dumps(whole)).values, whole.values)
    # One greedy action for each state.
    assert np.array_equal(whole.values.sum(axis=1), np.ones(20))


def test_a_checkpoint_needs_save_and_load() -> None:
    @hilo.add_agent_kind
    class Forgetful(LastReturn):
        save = hilo.Agent.save
        load = hilo.Agent.load

    problem = hilo.build_problem("random-mdp", states=20, actions=3)
    hilo.train(problem, agent="forgetful", episodes=20, seeds=1)  # runs, without checkpoints
    with pytest.raises(hilo.Error, match="no methods save and load"):
        hilo.Agent("forgetful", problem.pair).save()


def test_what_it_has_not_declared_it_does_not_get() -> None:
    @hilo.add_agent_kind
    class Peeping(LastReturn):
        def learn(self, episode: hilo.Episode) -> None:  # type: ignore[override]
            assert self.seen == 0

        def __init__(self, fidelities: hilo.Fidelities, setting: Any, trust: float):
            super().__init__(fidelities, setting, trust)
            self.seen = len(fidelities.lows) if hasattr(fidelities, "lows") else 0
            with pytest.raises(hilo.Error):
                _ = fidelities.low

    problem = hilo.build_problem("random-mdp", states=20, actions=3)
    hilo.train(problem, agent="peeping", episodes=5, seeds=1)


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (lambda states: states[:3] * 0, "shape"),
        (lambda states: states * 0 + 7, "must be in"),
        (lambda states: states * 0 - 1, "must be in"),
        (lambda states: states * 0.5, "whole number"),
    ],
)
def test_what_it_gives_is_checked(actions: Any, said: str) -> None:
    @hilo.add_agent_kind
    class Wrong(LastReturn):
        kind = "wrong"

        def act(self, states: npt.NDArray[np.int64]) -> Any:
            return actions(states)

    problem = hilo.build_problem("random-mdp", states=20, actions=3)
    with pytest.raises(hilo.Error, match=said):
        hilo.train(problem, agent="wrong", episodes=5, seeds=1)


def test_what_it_raises_is_raised() -> None:
    @hilo.add_agent_kind
    class Clumsy(LastReturn):
        def learn(self, episode: hilo.Episode) -> None:  # type: ignore[override]
            raise KeyError("no such key")

    problem = hilo.build_problem("random-mdp", states=20, actions=3)
    with pytest.raises(KeyError, match="no such key"):
        hilo.train(problem, agent="clumsy", episodes=5, seeds=1)


def test_other_code_is_another_agent(tmp_path: Path) -> None:
    problem = hilo.build_problem("random-mdp", states=20, actions=3)

    def train() -> hilo.Study:
        return hilo.train(problem, agent="changing", episodes=20, seeds=1, store=tmp_path / "s.db")

    class Changing(LastReturn):
        pass

    hilo.add_agent_kind(Changing)
    first = train()

    class Changed(LastReturn):
        kind = "changing"

        def act(self, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            return self.table[states].argmin(axis=1)

    hilo.add_agent_kind(Changed)
    with pytest.warns(UserWarning, match="no longer shows"):
        second = train()
    assert first.agents == second.agents == ["last return"]


def test_what_cannot_be_added() -> None:
    class Named(LastReturn):
        kind = "mcrl"

    with pytest.raises(hilo.Error, match="already"):
        hilo.add_agent_kind(Named)

    class Silent(hilo.Agent):
        pass

    with pytest.raises(hilo.Error, match="no method learn"):
        hilo.add_agent_kind(Silent)
    with pytest.raises(hilo.Error, match="subclass"):
        hilo.add_agent_kind(int)

    class Greedy(LastReturn):
        parameters = {"trust": (2, 0, 1)}  # noqa: RUF012

    with pytest.raises(hilo.Error, match="must be in"):
        hilo.add_agent_kind(Greedy)
    problem = hilo.build_problem("random-mdp", states=20, actions=3)
    with pytest.raises(hilo.Error, match="trust is 3"):
        hilo.Agent("last-return", problem.pair, trust=3)
