"""The control problems as Gymnasium environments."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path

import gymnasium
import hilo
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

IDS = {"hilo/Pendulum-v0": 200, "hilo/CartPole-v0": 150, "hilo/Acrobot-v0": 150}


@pytest.mark.parametrize("fidelity", ["high", "low"])
@pytest.mark.parametrize("name", IDS)
def test_they_pass_gymnasiums_own_checker(name: str, fidelity: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The cart's position has no bounds, and actions are in the units of the problem.
        warnings.filterwarnings("ignore", message=".*(Inf|infinity|normalized|symmetric)")
        check_env(gymnasium.make(name, fidelity=fidelity).unwrapped)


def test_the_cheap_pendulum_is_gymnasiums() -> None:
    """It has the same mass, length, gravity and integration."""
    theirs = gymnasium.make("Pendulum-v1").unwrapped
    ours = gymnasium.make("hilo/Pendulum-v0", fidelity="low")
    theirs.reset(seed=1)
    ours.reset(options={"state": [2.0, -0.5]})
    theirs.state = np.array([2.0, -0.5])
    rng = np.random.default_rng(3)
    for _ in range(60):
        action = rng.uniform(-2, 2, 1)
        (cosine, sine, speed), their_reward, *_ = theirs.step(action)
        (angle, our_speed), our_reward, *_ = ours.step(action)
        assert np.allclose([np.cos(angle), np.sin(angle), our_speed], [cosine, sine, speed], atol=1e-5)
        assert our_reward == pytest.approx(their_reward, abs=1e-6)


@pytest.mark.parametrize(("name", "steps"), IDS.items())
def test_seeds_decide_everything_and_episodes_are_cut(name: str, steps: int) -> None:
    def path(seed: int) -> list[float]:
        env = gymnasium.make(name, **{"high.process_noise": 0.1})
        out = [float(x) for x in env.reset(seed=seed)[0]]
        for t in range(steps):
            observation, reward, terminated, truncated, _ = env.step(np.zeros(1))
            assert observation in env.observation_space
            assert not terminated and truncated == (t == steps - 1)
            out += [reward, *map(float, observation)]
        with pytest.raises(hilo.Error, match="call reset"):
            env.unwrapped.step(np.zeros(1))
        return out

    assert path(1) == path(1) != path(2)


def test_they_pickle_and_refuse_what_makes_no_sense() -> None:
    env = gymnasium.make("hilo/CartPole-v0", **{"high.pole_friction": 0.5}).unwrapped
    again = pickle.loads(pickle.dumps(env))
    assert (again.reset(seed=4)[0] == env.reset(seed=4)[0]).all()
    assert (again.step(np.ones(1))[0] == env.step(np.ones(1))[0]).all()
    for wrong, says in [({"fidelity": "middle"}, "'high' or 'low'"), ({"high.weight": 1.0}, "high.weight")]:
        with pytest.raises(hilo.Error, match=says):
            gymnasium.make("hilo/CartPole-v0", **wrong)
    for action in ([99.0], [float("nan")], [0.0, 0.0], ["x"], None):
        with pytest.raises(hilo.Error, match="action"):
            env.step(action)
    with pytest.raises(hilo.Error, match="state"):
        env.reset(options={"state": [1.0]})
    for hidden in ({"high.delay": 2}, {"high.observation_noise": 0.1}):
        with pytest.raises(hilo.Error, match="not the whole state"):
            gymnasium.make("hilo/Pendulum-v0", **hidden)


SMALL = {
    "kind": "corrected", "scenarios": 2, "population": 4, "generations": 2, "restarts": 1, "frequencies": 20,
    "fit_points": 30, "search.low_steps": 200,
}  # fmt: skip


# A model of twenty frequencies may be worse than none, which is said in a note.
@pytest.mark.filterwarnings("ignore:the cheap simulator was dropped")
@pytest.mark.parametrize("name", IDS)
def test_hilo_learns_from_them(name: str, tmp_path: Path) -> None:
    for episodes in (1, 2):  # they are known again, though they have been used
        learnt = hilo.learn(
            gymnasium.make(name), gymnasium.make(name, fidelity="low"), episodes=episodes, reserve=0, agent=SMALL,
            gamma=1.0, name="control", journal=tmp_path / "a.journal", sync=False, progress=False,
        )  # fmt: skip
    assert learnt.bill["steps"] == 2 * IDS[name] and learnt.bill["low_steps"] == 200
    angles = gymnasium.make(name).unwrapped.angles
    assert json.loads(learnt.policy.json)["angles"] == list(angles)
    with pytest.raises(hilo.Error, match="begun with another spec"):
        hilo.learn(
            gymnasium.make(name, **{"high.process_noise": 0.1}), gymnasium.make(name, fidelity="low"), episodes=3,
            reserve=0, agent=SMALL, gamma=1.0, name="control", journal=tmp_path / "a.journal", progress=False,
        )  # fmt: skip


def test_studies_know_them_again(tmp_path: Path) -> None:
    agent = {key: value for key, value in SMALL.items() if key != "search.low_steps"} | {"kind": "corrected-high"}
    notes: list[str] = []
    for _ in range(2):
        env = gymnasium.make("hilo/Pendulum-v0", steps=20)
        env.reset(seed=3)
        study = hilo.train(
            env, agent=[agent], episodes=1, seeds=1, progress=False, store=tmp_path / "s.db", name="pendulum"
        )
        notes += [str(study.columns()["value"][-1])]
    assert notes[0] == notes[1]  # seconds among them: it was not run again
    table = gymnasium.make("hilo/RandomMDP-v0")
    assert hilo.learn(
        table, episodes=2, reserve=0, agent="q-learning", max_steps=20, journal=tmp_path / "t", progress=False
    )
