"""The policy that a study hands out is the best by the best evidence, and says by which."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import hilo
import numpy as np
import pytest
from conftest import sure_walk, walk

WALK: dict[str, Any] = {"states": 10, "actions": 2, "start": 0}
QUICK: dict[str, Any] = {"progress": False}


def gamble(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
    """One step: action 1 pays 3 on average and action 0 nothing, with a noise of 6 either way."""
    return 1, 3.0 * action + 12 * rng.random() - 6, True


GAMBLE = hilo.wrap(gamble, states=2, actions=2, start=0)


def test_without_tests_the_agents_own_estimate_decides_and_not_the_last_episodes() -> None:
    study = hilo.train(GAMBLE, agent="mcrl", episodes=20, seeds=(7, 19), **QUICK)
    last = study.results.final_values("MCRL", "train_return")
    values = study.results.final_values("MCRL", "own_value")
    errors = study.results.final_values("MCRL", "own_value_error")
    lucky = max(last, key=lambda s: last[s])
    assert study.policy("MCRL", lucky)(0) == 0, "the last episode of a wrong policy went best"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy = study.policy()
    assert policy.judged_by == "own_value"
    assert policy.seed == max(values, key=lambda s: values[s] - 2 * errors[s])
    assert policy(0) == 1


def test_tests_come_before_estimates_and_exact_values_before_tests() -> None:
    tested = hilo.train(GAMBLE, agent="mcrl", episodes=40, seeds=3, test_episodes=200, spend=True, **QUICK)
    policy = tested.policy()
    levels = tested.results.final_values("MCRL", "test_return")
    assert policy.judged_by == "test_return" and policy.seed == max(levels, key=levels.get)
    exact = hilo.train("FrozenLake-v1", agent=["mcrl", "q-learning"], episodes=100, seeds=3, **QUICK)
    policy = exact.policy()
    every = [
        level for a in exact.agents for level in exact.results.final_values(a, "policy_value").values()
    ]
    assert policy.judged_by == "policy_value"
    assert exact.results.final_values(policy.agent, "policy_value")[policy.seed] == max(every)


def test_training_returns_decide_with_a_warning_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    study = hilo.train(GAMBLE, agent="mcrl", episodes=40, seeds=3, **QUICK)
    # As in an older store, in which agents did not record their own estimates.
    monkeypatch.setattr(hilo.judging, "_OWN", "own_value_of_nobody")
    with pytest.warns(UserWarning, match="noisy and explore.*test_episodes="):
        policy = study.policy()
    assert policy.judged_by == "train_return"
    columns = study.columns()
    late = (np.array(columns["metric"]) == "train_return") & (columns["episode"] > 20)
    means = [columns["value"][late & (columns["seed"] == seed)].mean() for seed in range(3)]
    assert policy.seed == int(np.argmax(means))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.policy("MCRL", 1)  # agent and seed are given, so nothing is chosen


def test_an_agent_that_cannot_say_how_sure_it_is_makes_no_estimate() -> None:
    study = hilo.train(GAMBLE, agent=["mcrl", "q-learning"], episodes=40, seeds=3, **QUICK)
    assert not study.results.final_values("Q-learning", "own_value")
    assert study.policy("MCRL").judged_by == "own_value"
    with pytest.warns(UserWarning, match="not all agents can say how sure"):
        assert study.policy().judged_by == "train_return"


def test_table_findings_and_page_name_the_same_agent(tmp_path: Path) -> None:
    high, low = hilo.wrap(walk, **WALK), hilo.wrap(sure_walk, **WALK)
    for options in ({}, {"test_episodes": 20}):
        study = hilo.train(
            high, low, agent=["mcrl", "q-learning", "bayes"], episodes=30, seeds=3, **QUICK, **options
        )
        best = max(study.agents, key=lambda a: study.final(a).mean)
        findings = study.findings()
        assert f"{best} has the highest mean at the end" in findings[0]
        assert f"{study.final(best).mean:.3f}" in findings[0]
        assert ("Nothing was tested" in findings[1]) == (not options)
        assert ("do not rank" in str(study)) == (not options)
        page = study.report(tmp_path / "page.html").read_text()
        assert f"{best} has the highest mean at the end" in page
        metric = "test_return" if options else "train_return"
        assert study.metric == study.results.level_metric == metric
        assert page.index(f'"id":"{metric}"') == page.index('"id":"'), "the first curve of the page"


def test_a_problem_of_hilo_is_told_in_one_metric() -> None:
    spec = """
    spec_version = 1
    name = "one"
    seeds = 3
    [problem]
    kind = "random-mdp"
    states = 20
    actions = 3
    [train]
    episodes = 60
    [test]
    every = 60
    exact_every = 60
    [[agent]]
    kind = "mcrl"
    [[agent]]
    kind = "q-learning"
    """
    study = hilo.run(spec, store=None, progress=False)
    assert study.metric == "policy_reward"
    best = max(study.agents, key=lambda a: study.final(a).mean)
    assert f"{best} has the highest mean" in study.findings()[0]
    assert study.policy().judged_by == "policy_reward"
