"""Simulators of vectors in Python: hilo.learn and hilo.train without a grid."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import hilo

# A search that is too small to learn much, and quick.
SMALL: dict[str, Any] = {
    "kind": "corrected",
    "scenarios": 2,
    "population": 4,
    "generations": 2,
    "restarts": 1,
    "frequencies": 20,
    "fit_points": 30,
    "search.low_steps": 200,
}


def slider(friction: float) -> hilo.VectorSimulator:
    def step(states: Any, actions: Any, noise: Any) -> Any:
        speed = (1 - friction) * states[:, 1] + 0.1 * actions[:, 0]
        place = states[:, 0] + 0.1 * speed
        return np.stack([place, speed], axis=1), -(place**2), np.abs(place) > 3

    return hilo.VectorSimulator(
        step,
        start=lambda rng: [rng.uniform(0.5, 1.5), 0.0],
        observations=[(-9, 9)] * 2,
        actions=[(-1, 1)],
        max_steps=40,
        identity=f"slider {friction}",
    )


def test_a_policy_is_learnt_and_the_same_call_goes_on(tmp_path: Path) -> None:
    def learn(episodes: int, file: str) -> hilo.Learnt:
        return hilo.learn(
            slider(0.1), slider(0.0), episodes=episodes, reserve=2, agent=SMALL, gamma=1.0,
            journal=tmp_path / file, sync=False, progress=False,
        )  # fmt: skip

    learnt = learn(4, "a.journal")
    assert learnt.bill["training"] == 2
    assert learnt.bill["low_steps"] == 200
    assert isinstance(learnt.policy, hilo.NetworkPolicy)
    action = learnt.policy(np.array([1.0, 0.0]))
    assert action.shape == (1,) and abs(action[0]) <= 1
    again = pickle.loads(pickle.dumps(learnt.policy))
    assert again([1.0, 0.0]) == action
    assert learn(4, "a.journal").policy.json == learnt.policy.json
    assert learn(4, "b.journal").policy.json == learnt.policy.json
    learnt.report(tmp_path / "page.html")
    saved = learnt.save(tmp_path / "a.policy.json")
    assert '"network"' in saved.read_text()


def test_numbers_of_the_cheap_simulator_are_tuned(tmp_path: Path) -> None:
    def step(states: Any, actions: Any, noise: Any, numbers: dict[str, float]) -> Any:
        speed = (1 - numbers["friction"]) * states[:, 1] + 0.1 * numbers["force"] * actions[:, 0]
        place = states[:, 0] + 0.1 * speed
        return np.stack([place, speed], axis=1), -(place**2), np.zeros(len(states), bool)

    def slider_with(**numbers: float) -> hilo.VectorSimulator:
        return hilo.VectorSimulator(
            step, start=lambda rng: [rng.uniform(0.5, 1.5), 0.3], observations=[(-9, 9)] * 2,
            actions=[(-1, 1)], max_steps=40, parameters=numbers,
        )  # fmt: skip

    agent = {key: value for key, value in SMALL.items() if key != "search.low_steps"}
    agent["tune"] = {"friction": (0, 0.5), "force": (0.5, 2)}
    study = hilo.train(
        slider_with(friction=0.2, force=1.3), slider_with(friction=0.0, force=1.0), agent=[agent], episodes=2, seeds=1,
        gamma=1.0, test_every=1, test_episodes=2, progress=False,
    )  # fmt: skip
    rows = study.columns()
    found = dict(zip(rows["metric"], rows["value"], strict=True))  # the last episode's
    assert abs(found["tuned_1"] - 1.3) < 0.01 and abs(found["tuned_2"] - 0.2) < 0.01

    tried: list[float] = []

    def set_power(env: Any, numbers: dict[str, float]) -> None:
        tried.append(numbers["power"])
        env.unwrapped.power = numbers["power"]

    low = gymnasium.make("MountainCarContinuous-v0")
    learnt = hilo.learn(
        gymnasium.make("MountainCarContinuous-v0"),
        hilo.wrap(low, set_parameters=set_power, parameters={"power": 0.002}),
        agent={**SMALL, "tune": {"power": (0.0005, 0.003)}}, episodes=1, reserve=0, gamma=1.0, max_steps=30,
        journal=tmp_path / "car.journal", sync=False, progress=False,
    )  # fmt: skip
    assert learnt.bill["low_steps"] > 200 + 400 * 20  # tuning is on the bill
    assert abs(np.median(tried[-50:]) - 0.0015) < 2e-4
    with pytest.raises(hilo.Error, match="tune names 'colour', but the cheap simulator has friction, force"):
        hilo.learn(
            slider_with(friction=0.2, force=1.3), slider_with(friction=0.0, force=1.0), episodes=1,
            agent={**agent, "tune": {"colour": (0, 1)}}, journal=tmp_path / "b.journal",
        )  # fmt: skip


def test_a_study_gives_policies_that_are_networks() -> None:
    study = hilo.train(
        slider(0.1), slider(0.0), agent=[SMALL], episodes=2, seeds=1, gamma=1.0, test_every=1, test_episodes=2, progress=False
    )
    assert isinstance(study.policy(), hilo.NetworkPolicy)


def test_environments_of_gymnasium_work_as_they_are(tmp_path: Path) -> None:
    for name in ("CartPole-v1", "Pendulum-v1", "MountainCarContinuous-v0", "Acrobot-v1"):
        high, low = gymnasium.make(name), gymnasium.make(name)
        learnt = hilo.learn(
            high, low, episodes=1, reserve=0, agent=SMALL, gamma=1.0, max_steps=30,
            journal=tmp_path / f"{name}.journal", sync=False, progress=False,
        )  # fmt: skip
        observation, _ = high.reset(seed=0)
        assert high.action_space.contains(np.asarray(learnt.policy(observation), dtype=high.action_space.dtype))


def test_without_a_cheap_simulator(tmp_path: Path) -> None:
    agent = {key: value for key, value in SMALL.items() if key != "search.low_steps"} | {"kind": "corrected-high"}
    learnt = hilo.learn(
        gymnasium.make("Pendulum-v1"), episodes=2, reserve=0, agent=agent, max_steps=30,
        journal=tmp_path / "a.journal", sync=False, progress=False,
    )  # fmt: skip
    assert learnt.bill["low_steps"] == 0


def test_what_is_missing_is_found() -> None:
    class Hidden(gymnasium.ObservationWrapper[Any, Any, Any]):
        """A pendulum whose velocity is not seen."""

        def __init__(self) -> None:
            super().__init__(gymnasium.make("Pendulum-v1"))
            self.observation_space = gymnasium.spaces.Box(-1, 1, (2,))

        def observation(self, observation: Any) -> Any:
            return observation[:2]

    def guess(env: Any, row: Any) -> None:
        env.unwrapped.state = np.array([np.arctan2(row[1], row[0]), 0.0])

    class Own(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Box(-1, 1, (2,))
        action_space = gymnasium.spaces.Box(-1, 1, (1,))

    with pytest.raises(hilo.Error, match="does not know how"):
        hilo.learn(gymnasium.make("Pendulum-v1"), Own(), episodes=1)
    with pytest.raises(hilo.Error, match="not its whole state"):
        hilo.learn(Hidden(), hilo.wrap(Hidden(), set_state=guess), episodes=1)
    class Counting(gymnasium.Wrapper[Any, Any, Any, Any]):
        """A reward that depends on what is not seen."""

        count = 0

        def step(self, action: Any) -> Any:
            self.count += 1
            observation, _, ended, cut, info = self.env.step(action)
            return observation, float(self.count), ended, cut, info

    with pytest.raises(hilo.Error, match="the reward differ"):
        hilo.learn(gymnasium.make("Pendulum-v1"), Counting(gymnasium.make("Pendulum-v1")), episodes=1)
    weak = gymnasium.make("Pendulum-v1")
    weak.action_space = gymnasium.spaces.Box(-1, 1, (1,))
    with pytest.raises(hilo.Error, match="must be the same"):
        hilo.learn(gymnasium.make("Pendulum-v1"), weak, episodes=1)
    with pytest.raises(hilo.Error, match="map has no meaning"):
        hilo.learn(slider(0.1), slider(0.0), map=[0], episodes=1)
    with pytest.raises(hilo.Error, match="must be the same"):
        hilo.learn(slider(0.1), gymnasium.make("Pendulum-v1"), episodes=1)


def test_bad_answers_are_errors(tmp_path: Path) -> None:
    def make(step: Any) -> hilo.VectorSimulator:
        return hilo.VectorSimulator(
            step, start=lambda rng: [0.0], observations=[(-1, 1)], actions=[(-1, 1)], max_steps=5, identity="bad"
        )

    for number, (step, why) in enumerate(
        [
            (lambda s, a, noise: (s, 0.0), "must return"),
            (lambda s, a, noise: (np.zeros((1, 2)), np.zeros(1), np.zeros(1, bool)), "shapes"),
            (lambda s, a, noise: (np.full((1, 1), 7.0), np.zeros(1), np.zeros(1, bool)), "7"),
            (lambda s, a, noise: (s, np.full(1, np.nan), np.zeros(1, bool)), "finite"),
        ]
    ):
        with pytest.raises(hilo.Error, match=why):
            hilo.learn(
                make(step), episodes=1, reserve=0, agent={**SMALL, "kind": "corrected-high"}, retries=0,
                on_failure="stop", journal=tmp_path / f"{number}.journal", sync=False, progress=False,
            )  # fmt: skip
