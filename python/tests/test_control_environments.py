"""The control problems as Gymnasium environments."""

from __future__ import annotations

import pickle
import warnings

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
    delayed = gymnasium.make("hilo/Pendulum-v0", **{"high.delay": 2}).unwrapped
    delayed.reset(seed=1)
    with pytest.raises(hilo.Error, match="not the whole state"):
        delayed.step(np.zeros(1))
