"""hilo.learn: one budget, one policy, and nothing lost that was paid for."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import hilo

CELLS = 10


def river(noise: float) -> Any:
    def step(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        go = 1 if action == 1 and rng.random() > noise else -1
        state = min(CELLS - 1, max(0, state + go))
        return state, 1.0 if state == CELLS - 1 else -0.01, state == CELLS - 1

    return step


WRAP = dict(states=CELLS, actions=2, start=0, terminal=[CELLS - 1])
SETTING = dict(
    episodes=60, max_steps=100, gamma=0.95, truncation="terminal", name="river", progress=False
)


def sides() -> tuple[hilo.Wrapped, hilo.Wrapped]:
    return hilo.wrap(river(0.3), **WRAP), hilo.wrap(river(0.1), **WRAP)


def test_spends_the_budget_and_tests_the_policy(tmp_path: Path) -> None:
    learnt = hilo.learn(*sides(), journal=tmp_path / "r.journal", costs={"high_step": 2.0}, **SETTING)
    assert learnt.agent == "Bayes"
    assert "bayes" in learnt.choice
    assert learnt.value.n == 10
    assert learnt.value.low < learnt.value.mean < learnt.value.high
    assert learnt.bill["episodes"] == 60
    assert learnt.bill["training"] == 50
    assert learnt.bill["cost"] == 2.0 * learnt.bill["steps"]
    assert [learnt.policy(s) for s in range(CELLS - 1)] == [1] * (CELLS - 1)
    assert "60 expensive episodes" in str(learnt)
    assert "The policy is worth" in learnt.report(tmp_path / "r.html").read_text()
    policy = json.loads(learnt.save(tmp_path / "p.json").read_text())
    assert policy["hilo_policy"] == 1
    assert policy["greedy"][0] == [1]
    again = hilo.learn(*sides(), journal=tmp_path / "r.journal", costs={"high_step": 2.0}, **SETTING)
    assert again.value.mean == learnt.value.mean
    assert again.bill["episodes"] == 60


def test_an_interrupted_run_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    whole = hilo.learn(*sides(), journal=tmp_path / "whole.journal", agent="mfmcrl", **SETTING)
    calls = 0

    def stop(episodes: int, failed: int, share: float, cost: float, last: float | None) -> None:
        nonlocal calls
        calls += 1
        if calls % 2 == 1:
            raise KeyboardInterrupt

    slow = hilo.wrap(_slowly(river(0.3)), **WRAP, identity="river")
    cheap = sides()[1]
    rounds = 0
    while True:
        rounds += 1
        try:
            setting = {**SETTING, "progress": stop if rounds < 6 else False}
            last = hilo.learn(slow, cheap, journal=tmp_path / "b.journal", agent="mfmcrl", **setting)
            break
        except KeyboardInterrupt:
            assert rounds < 10
    assert rounds > 1
    assert last.value.mean == whole.value.mean
    assert np.array_equal(last.policy.q, whole.policy.q)
    assert last.bill["attempts"] == 60


def _slowly(step: Any) -> Any:
    def slow(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        time.sleep(0.0005)
        return step(state, action, rng)  # type: ignore[no-any-return]

    return slow


def test_a_simulator_that_fails_at_times_changes_nothing(tmp_path: Path) -> None:
    dice = random.Random(5)

    def flaky(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        if dice.random() < 0.01:
            raise OSError("the licence server does not answer")
        return river(0.3)(state, action, rng)  # type: ignore[no-any-return]

    broken = hilo.wrap(flaky, **WRAP)
    one = hilo.learn(broken, sides()[1], journal=tmp_path / "a.journal", retries=20, **SETTING)
    whole = hilo.learn(*sides(), journal=tmp_path / "b.journal", retries=20, **SETTING)
    assert one.bill["failed"] > 0
    assert one.bill["skipped"] == 0
    assert one.value.mean == whole.value.mean
    assert np.array_equal(one.policy.q, whole.policy.q)


def test_a_simulator_that_always_fails_ends_the_run(tmp_path: Path) -> None:
    def broken(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        raise ValueError("no such valve")

    with pytest.raises(hilo.Error, match="3 episodes in a row failed.*no such valve") as raised:
        hilo.learn(hilo.wrap(broken, **WRAP), journal=tmp_path / "a.journal", **SETTING)
    assert raised.value.code == hilo.Errc.simulator
    with pytest.raises(hilo.Error, match="failed 3 times.*no such valve"):
        hilo.learn(
            hilo.wrap(broken, **WRAP), journal=tmp_path / "b.journal", on_failure="stop", **SETTING
        )


def test_a_larger_budget_goes_on_and_another_spec_is_refused(tmp_path: Path) -> None:
    journal = tmp_path / "r.journal"
    hilo.learn(*sides(), journal=journal, **SETTING)
    more = hilo.learn(*sides(), journal=journal, **{**SETTING, "episodes": 100})
    assert more.bill["episodes"] == 100
    with pytest.raises(hilo.Error, match=r"train\.gamma was 0\.95 and is 0\.9") as raised:
        hilo.learn(*sides(), journal=journal, **{**SETTING, "gamma": 0.9})
    assert raised.value.code == hilo.Errc.spec
    with pytest.raises(hilo.Error, match="at least one of episodes, steps, cost and wall"):
        hilo.learn(*sides(), journal=journal, name="river")


def test_measured_costs_are_frozen_and_replayed(tmp_path: Path) -> None:
    setting = {**SETTING, "episodes": None, "cost": 0.5}
    slow = hilo.wrap(_slowly(river(0.3)), **WRAP)
    first = hilo.learn(slow, sides()[1], journal=tmp_path / "a.journal", **setting)
    assert first.bill["cost_unit"] == "seconds"
    assert 0.4 < first.bill["cost"] < 0.8
    again = hilo.learn(slow, sides()[1], journal=tmp_path / "a.journal", **setting)
    assert again.bill["high_cost"] == first.bill["high_cost"]
    (tmp_path / "a.journal.checkpoint").unlink()
    replayed = hilo.learn(slow, sides()[1], journal=tmp_path / "a.journal", **setting)
    assert np.array_equal(replayed.policy.q, first.policy.q)
    assert replayed.bill["cost"] == first.bill["cost"]
    assert replayed.bill["episodes"] == first.bill["episodes"]


def test_ask_and_tell(tmp_path: Path) -> None:
    (tmp_path / "plant.toml").write_text(
        'spec_version = 1\nname = "plant"\n[problem]\nkind = "random-mdp"\nstates = 12\nactions = 2\n'
        "[budget]\nepisodes = 20\n[train]\nmax_steps = 50\n"
    )
    spec = hilo.load_learn_spec(tmp_path / "plant.toml")
    learner = hilo.Learner(spec, tmp_path / "told.journal", sync=False)
    told = 0
    while (request := learner.ask()) is not None:
        if told == 3 and request.attempt == 0:
            learner.tell_failure("the pump was out of order")
            continue
        states, actions, rewards, done = [0], [], [], False
        while not done and len(actions) < request.max_steps:
            actions.append(request.action(len(actions), states[-1]))
            states.append(min(11, states[-1] + actions[-1]))  # an experiment that no library knows
            rewards.append(-0.5)
            done = states[-1] == 11
        learner.tell(hilo.Episode(states, actions, rewards, truncated=not done))
        told += 1
    assert told == 20
    assert learner.done
    assert learner.bill["failed"] == 1
    assert learner.outcome["returns"].n == 2
    with pytest.raises(hilo.Error, match="no longer open"):
        first = hilo.Learner(spec, tmp_path / "other.journal")
        request = first.ask()
        assert request is not None
        assert '"words"' in request.json()
        first.tell_failure("x")
        request.action(0, 0)


class Pond:
    """An environment with state of its own, which a run changes."""

    def __init__(self, held: Any = None) -> None:
        self.observation_space = gymnasium.spaces.Discrete(4)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.place, self.steps, self.held = 0, 0, held

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self.place = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.place, self.steps = min(3, self.place + int(action)), self.steps + 1
        return self.place, -1.0, self.place == 3, False, {}


class PondEnv(Pond, gymnasium.Env):  # type: ignore[type-arg]
    pass


def test_the_same_environment_goes_on_and_what_has_no_identity_is_refused(tmp_path: Path) -> None:
    setting = {**SETTING, "name": "pond", "agent": "q-learning", "journal": tmp_path / "p.journal"}
    env = PondEnv()
    hilo.learn(env, **{**setting, "episodes": 10})
    assert env.steps > 0
    more = hilo.learn(env, **{**setting, "episodes": 20})  # the same object, which has changed
    assert more.bill["episodes"] == 20
    more = hilo.learn(PondEnv(), **{**setting, "episodes": 30})  # as in a new process
    assert more.bill["episodes"] == 30
    with pytest.raises(hilo.Error, match="identity="):
        hilo.learn(PondEnv(threading.Lock()), **setting)
    named = hilo.wrap(PondEnv(threading.Lock()), identity="pond 1")
    assert hilo.learn(named, **{**setting, "journal": tmp_path / "q.journal"}).bill["episodes"] == 60
    with pytest.raises(hilo.Error, match="one line"):
        hilo.wrap(PondEnv(), identity="a\nb")


SCRIPT = """
import sys, time
import hilo
def step(s, a, rng):
    time.sleep(0.0004)
    n = min(9, max(0, s + (1 if a == 1 and rng.random() > 0.3 else -1)))
    return n, 1.0 if n == 9 else -0.01, n == 9
def cheap(s, a, rng):
    n = min(9, max(0, s + (1 if a == 1 else -1)))
    return n, 1.0 if n == 9 else -0.01, n == 9
wrap = dict(states=10, actions=2, start=0, terminal=[9])
learnt = hilo.learn(hilo.wrap(step, **wrap), hilo.wrap(cheap, **wrap), episodes=80, max_steps=50,
                    gamma=0.95, truncation="terminal", name="r", journal=sys.argv[1],
                    agent="mfmcrl", costs={"high_step": 1.0}, progress=False)
print(repr(learnt.policy.q.tolist()), repr(learnt.value.mean), learnt.bill["cost"])
"""


def test_killed_at_random_moments_it_ends_with_the_same_bits(tmp_path: Path) -> None:
    def begin(name: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path / name)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    start = time.monotonic()
    whole = begin("whole.journal").communicate()[0]
    took = time.monotonic() - start
    moments = random.Random(3)
    killed = 0
    for _ in range(5):
        run = begin("killed.journal")
        time.sleep(0.25 + moments.uniform(0, max(took - 0.3, 0.1) / 5))
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            killed += 1
        run.communicate()
    assert begin("killed.journal").communicate()[0] == whole != ""
    assert killed > 2


def test_train_says_what_it_would_spend() -> None:
    expensive, cheap = sides()
    with pytest.raises(hilo.Error, match=r"20000 episodes.*2 agents x 10 seeds x 1000.*hilo\.learn"):
        hilo.train(expensive, cheap)
    with pytest.raises(hilo.Error, match="at most 30"):
        hilo.train(expensive, cheap, episodes=20, seeds=1, max_episodes=30)
    hilo.train(
        expensive, cheap, episodes=20, seeds=1, max_episodes=40, truncation="terminal", max_steps=50
    )


def test_a_pilot_judges_the_cheap_simulator_inside_the_budget(tmp_path: Path) -> None:
    setting = dict(SETTING, agent={"kind": "mfmcrl", "variant": "plus"}, pilot=30, episodes=80)
    learnt = hilo.learn(*sides(), journal=tmp_path / "p.journal", **setting)
    assert learnt.bill["pilot"] == 30
    assert learnt.bill["episodes"] == 80
    assert learnt.pilot is not None
    assert learnt.pilot["episodes"] == 30
    assert learnt.pilot["goes_on_with"] == learnt.agent
    assert "30 episodes about the cheap simulator" in str(learnt)
    with pytest.raises(hilo.Error, match="a pilot is for agent"):
        hilo.learn(*sides(), journal=tmp_path / "q.journal", **dict(SETTING, pilot=30))


def test_a_second_learner_starts_from_what_was_paid_for(tmp_path: Path) -> None:
    first = hilo.learn(*sides(), journal=tmp_path / "first.journal", **SETTING)
    setting = dict(SETTING, name="second", agent="q-learning", episodes=20)
    reuse = tmp_path / "first.journal"
    second = hilo.learn(*sides(), journal=tmp_path / "second.journal", reuse=reuse, **setting)
    assert first.bill["reused"] == 0
    assert second.bill["reused"] == 60
    assert second.bill["episodes"] == 20
    assert "60 more that other runs paid for" in str(second)
    again = hilo.learn(*sides(), journal=tmp_path / "second.journal", reuse=[reuse], **setting)
    assert again.value.mean == second.value.mean
    assert again.bill["episodes"] == 20
    with pytest.raises(hilo.Error, match="cannot be reused by mcrl"):
        hilo.learn(
            *sides(), journal=tmp_path / "x.journal", reuse=reuse, **dict(setting, agent="mcrl")
        )
    other = hilo.wrap(river(0.5), **WRAP)
    with pytest.raises(hilo.Error, match="no finished episode of the expensive simulator"):
        hilo.learn(other, journal=tmp_path / "y.journal", reuse=reuse, **setting)
