"""hilo's problems as Gymnasium environments."""

from __future__ import annotations

import pickle
import warnings

import gymnasium
import hilo
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

IDS = ("hilo/RandomMDP-v0", "hilo/NasBench201-v0", "hilo/Docking-v0")
OF_VECTORS = ("hilo/Pendulum-v0", "hilo/CartPole-v0", "hilo/Acrobot-v0")  # test_control_environments.py


def test_all_are_registered() -> None:
    assert sorted(name for name in gymnasium.registry if name.startswith("hilo/")) == sorted(
        IDS + OF_VECTORS
    )


@pytest.mark.parametrize("fidelity", ["high", "low"])
@pytest.mark.parametrize("name", IDS)
def test_they_pass_gymnasiums_own_checker(name: str, fidelity: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        modes = gymnasium.make(name).metadata["render_modes"]
        for mode in [None, *modes]:
            check_env(gymnasium.make(name, fidelity=fidelity, render_mode=mode).unwrapped)


@pytest.mark.parametrize("name", IDS)
def test_vector_environments_agree_with_single_ones(name: str) -> None:
    num = 7
    vector = gymnasium.make_vec(name, num_envs=num)
    assert vector.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    singles = [gymnasium.make(name) for _ in range(num)]
    observations, _ = vector.reset(seed=5)
    assert observations.tolist() == [env.reset(seed=5 + i)[0] for i, env in enumerate(singles)]
    over = [False] * num
    ends = 0
    rng = np.random.default_rng(0)
    for _ in range(300):
        actions = rng.integers(vector.single_action_space.n, size=num)  # type: ignore[attr-defined]
        observations, rewards, terminated, truncated, _ = vector.step(actions)
        assert observations in vector.observation_space and not truncated.any()
        for i, env in enumerate(singles):
            if over[i]:
                observation, reward, done = env.reset()[0], 0.0, False
            else:
                observation, reward, done, _, _ = env.step(actions[i])  # type: ignore[assignment]
            assert (observation, reward, done) == (observations[i], rewards[i], terminated[i])
            over[i] = done
            ends += done
    assert ends > 20


def test_seeds_decide_everything() -> None:
    def path(seed: int) -> list[int]:
        env = gymnasium.make("hilo/RandomMDP-v0")
        out = [int(env.reset(seed=seed)[0])]
        for _ in range(30):
            observation, _, done, _, _ = env.step(3)
            out.append(int(observation))
            if done:
                out.append(int(env.reset()[0]))
        return out

    assert path(1) == path(1) != path(2)
    one, other = gymnasium.make("hilo/RandomMDP-v0"), gymnasium.make("hilo/RandomMDP-v0")
    starts = [[int(env.reset()[0]) for _ in range(20)] for env in (one, other)]
    assert starts[0] != starts[1], "without a seed no two are alike"


def test_reset_to_a_state_and_errors() -> None:
    env = gymnasium.make("hilo/Docking-v0")
    assert env.reset(options={"state": 17})[0] == 17
    with pytest.raises(hilo.Error, match="state is 99999"):
        env.reset(options={"state": 99999})
    with pytest.raises(hilo.Error, match="'high' or 'low'"):
        gymnasium.make("hilo/Docking-v0", fidelity="middle")
    with pytest.raises(hilo.Error, match="action is 9"):
        env.unwrapped.step(9)


def test_the_picture_shows_the_vehicle() -> None:
    env = gymnasium.make("hilo/Docking-v0", render_mode="rgb_array")
    env.reset(seed=1)
    first = env.render()
    assert isinstance(first, np.ndarray) and first.shape == (360, 360, 3)
    assert first.dtype == np.uint8 and (first == 0).all(axis=2).any(), "there is a black dot"
    while not env.step(env.action_space.sample())[2]:
        pass
    last = env.render()
    assert isinstance(last, np.ndarray)
    assert not (last == 0).all(axis=2).any() and (last[0, 0] != first[0, 0]).any(), "and an end"


def test_they_pickle_and_check_actions() -> None:
    for name in IDS:
        again = pickle.loads(pickle.dumps(gymnasium.make(name, fidelity="low")))
        assert again.observation_space == gymnasium.make(name, fidelity="low").observation_space
    vector = gymnasium.make_vec("hilo/RandomMDP-v0", num_envs=3)
    first, _ = vector.reset(seed=1)
    for bad in ([0, 99, 0], [0.5, 1.0, 1.0], [1, 1]):
        with pytest.raises(hilo.Error, match="must be"):
            vector.step(np.array(bad))
    assert (vector.unwrapped._states == first).all(), "nobody has moved"
    single = gymnasium.make("hilo/RandomMDP-v0").unwrapped
    single.reset()
    with pytest.raises(hilo.Error, match="action is 1.5"):
        single.step(1.5)


def test_they_can_be_trained_on() -> None:
    study = hilo.train(
        "hilo/Docking-v0",
        gymnasium.make("hilo/Docking-v0", problem_seed=0),
        agent=["mcrl", {"kind": "mfmcrl", "low_rollouts": 1}],
        episodes=20,
        seeds=2,
        progress=False,
    )
    assert study.final("MCRL").n == 2
