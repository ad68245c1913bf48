"""What can be a side of vectors, with which options, and what is refused before anything is spent."""

from __future__ import annotations

import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import hilo
from hilo.training import _subject_of
from test_vectors import SMALL, slider

ALONE: dict[str, Any] = {k: v for k, v in SMALL.items() if k != "search.low_steps"} | {"kind": "corrected-high"}
TWO = spaces.Box(-5, 5, (2,), np.float64)
PUSH = spaces.Box(-1, 1, (1,), np.float64)


class Cart(gymnasium.Env[Any, Any]):
    """A point that is pushed. ``answer`` changes what a step returns."""

    def __init__(self, actions: Any = PUSH, friction: float = 0.1, answer: Any = None) -> None:
        self.observation_space, self.action_space = TWO, actions
        self.friction, self.answer = friction, answer
        self.given: list[Any] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x = np.array([self.np_random.uniform(0.5, 1.5), 0.0])
        return self.x.copy(), {}

    def step(self, action: Any) -> Any:
        self.given.append(action)
        force = float(np.asarray(action).reshape(-1)[0])
        place, speed = self.x
        self.x = np.clip([place + 0.1 * speed, (1 - self.friction) * speed + 0.1 * force], -5, 5)
        seen = self.x.copy() if self.answer is None else self.answer(self.x.copy())
        return seen, -float(self.x[0] ** 2), False, False, {}


def put(env: Any, observation: Any) -> None:
    env.x = np.array(observation)


def learn(high: Any, low: Any, journal: Path, **more: Any) -> hilo.Learnt:
    setting: dict[str, Any] = {
        "agent": SMALL if low is not None else ALONE, "episodes": 2, "reserve": 0, "gamma": 1.0, "max_steps": 20,
        "journal": journal, "sync": False, "progress": False, "retries": 0, "on_failure": "stop", **more,
    }  # fmt: skip
    return hilo.learn(high, low, **setting)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda x: x[:1], r"has the shape \(1,\), but .* has the shape \(2,\)"),
        (lambda x: 0.25, r"has the shape \(\), but .* has the shape \(2,\)"),
        (lambda x: np.append(x, 0), r"has the shape \(3,\), but .* has the shape \(2,\)"),
        (lambda x: x + 1j, "must be real numbers"),
        (lambda x: ["1", "2"], "must be real numbers"),
    ],
)
def test_observations_that_are_none_of_the_space_are_refused(answer: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(hilo.Error, match=why):
        learn(Cart(answer=answer), None, tmp_path / "a.journal")
    with pytest.raises(hilo.Error, match=why):
        still = lambda o: np.zeros(1)  # noqa: E731
        hilo.evaluate(still, Cart(answer=answer), budget=3, max_steps=5, journal=False, retries=0, on_failure="stop")
    assert learn(Cart(answer=lambda x: x[:, None]), None, tmp_path / "b.journal")  # the same numbers in the same order


def test_tuning_never_reaches_the_expensive_simulator(tmp_path: Path) -> None:
    def set_friction(env: Any, numbers: dict[str, float]) -> None:
        env.unwrapped.friction = numbers["friction"]

    def tunable(env: Any) -> hilo.Wrapped:
        return hilo.wrap(env, set_state=put, set_parameters=set_friction, parameters={"friction": 0.1})

    env = Cart(friction=0.3)
    agent = {**SMALL, "tune": {"friction": np.array([0.0, 0.5])}}
    for low in (tunable(env), tunable(gymnasium.wrappers.OrderEnforcing(env))):
        with pytest.raises(hilo.Error, match="would change the expensive one as well"):
            learn(env, low, tmp_path / "a.journal", agent=agent)
    assert env.friction == 0.3 and not env.given
    with pytest.raises(hilo.Error, match="high and low are one environment"):
        hilo.train(env, hilo.wrap(env, set_state=put), agent=[SMALL], threads=2, progress=False)
    assert learn(env, tunable(Cart()), tmp_path / "a.journal", agent=agent).bill["low_steps"] > 1000


def test_whole_numbers_are_no_actions_of_a_network(tmp_path: Path) -> None:
    whole = spaces.Box(0, 3, (1,), np.int64)
    with pytest.raises(hilo.Error, match=r"whole numbers alone.*Discrete\(4\)"):
        learn(Cart(whole), None, tmp_path / "a.journal")
    with pytest.raises(hilo.Error, match=r"whole numbers alone.*Discrete\(4\)"):
        hilo.VectorSimulator(lambda s, a, z: s, start=lambda rng: [0.0], observations=[(0, 1)], actions=whole)
    env = Cart(whole)
    hilo.evaluate(lambda o: [2.0], env, budget=3, max_steps=3, journal=False)
    assert all(action.dtype == np.int64 and action == [2] for action in env.given)
    with pytest.raises(hilo.Error, match=r"gave the action \[1.5\], but .* whole numbers alone"):
        hilo.evaluate(lambda o: [1.5], Cart(whole), budget=3, max_steps=3, journal=False)
    for nonsense in (["x"], {"a": 1}, None, [0.0, 0.0]):
        with pytest.raises(hilo.Error, match="must give 1 numbers"):
            hilo.evaluate(lambda o: nonsense, Cart(), budget=3, max_steps=3, journal=False)  # noqa: B023


def test_actions_have_the_shape_and_the_type_of_the_space(tmp_path: Path) -> None:
    square = spaces.Box(-1, 1, (2, 2), np.float32)
    env = Cart(square)
    policy = learn(env, None, tmp_path / "a.journal").policy
    assert square.contains(policy([1.0, 0.0]))
    hilo.evaluate(policy, env, budget=3, max_steps=3, journal=False)
    hilo.evaluate(lambda o: [0.0] * 4, env, budget=3, max_steps=3, journal=False)
    assert env.given and all(square.contains(action) for action in env.given)
    study = hilo.train(Cart(square), agent=[ALONE], episodes=1, seeds=1, max_steps=20, test_episodes=2, progress=False)
    assert square.contains(study.policy()([1.0, 0.0]))
    pendulum = gymnasium.make("Pendulum-v1")
    policy = learn(pendulum, None, tmp_path / "b.journal").policy
    for seed in range(5):
        assert pendulum.action_space.contains(policy(pendulum.reset(seed=seed)[0]))


def test_a_simulator_that_cannot_be_recognised_is_refused_before_it_is_paid_for(tmp_path: Path) -> None:
    lock, calls = threading.Lock(), [0]

    def locked(**more: Any) -> hilo.VectorSimulator:
        def step(states: Any, actions: Any, noise: Any) -> Any:
            with lock:
                calls[0] += 1
            return 0.99 * states + 0.01 * actions, -(states[:, 0] ** 2), np.zeros(len(states), bool)

        return hilo.VectorSimulator(
            step, start=lambda rng: [1.0, 0.0], observations=[(-9, 9)] * 2, actions=[(-1, 1)], **more
        )

    file = tmp_path / "a.journal"
    with pytest.raises(hilo.Error, match="cannot be recognised .* identity="):
        learn(locked(), locked(), file)
    assert calls == [0] and not file.exists()
    # An identity helps, and the same call goes on.
    for episodes in (1, 2):
        assert learn(locked(identity="a"), hilo.wrap(locked(), identity="b"), file, episodes=episodes)
    with pytest.raises(hilo.Error, match='problem.low was "b'):
        learn(locked(identity="a"), hilo.wrap(locked(), identity="c"), file, episodes=3)


def test_an_option_acts_or_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.journal"
    with pytest.raises(hilo.Error, match="hold has no meaning for VectorSimulator"):
        learn(slider(0.1), slider(0.0), file, hold=3)
    with pytest.raises(hilo.Error, match="hold, set_state, start, states has no meaning for VectorSimulator"):
        learn(slider(0.1), hilo.wrap(slider(0.0), set_state=put, hold=3, states=5, start=7, identity="q"), file)
    changed = hilo.wrap(Cart(), set_parameters=put, parameters={"a": 1.0})
    for high in (hilo.wrap(Cart(), set_state=put), changed):
        for low in (None, hilo.wrap(Cart(), set_state=put)):
            with pytest.raises(hilo.Error, match="no meaning for the expensive simulator"):
                learn(high, low, file)
    # For both at once it is the cheap one's.
    assert learn(Cart(), Cart(), file, set_state=put)

    def turning(angles: list[int]) -> hilo.VectorSimulator:
        of = slider(0.1)
        return hilo.VectorSimulator(
            of.step, start=of.start, observations=[(-4, 4)] * 2, actions=[(-1, 1)], angles=angles, identity="t"
        )

    with pytest.raises(hilo.Error, match=r"angles of the cheap .* are \[1\], but those of the expensive one \[0\]"):
        learn(turning([0]), turning([1]), file)
    with pytest.raises(hilo.Error, match="tune must not be empty"):
        learn(slider(0.1), slider(0.0), file, agent={**SMALL, "tune": {}})


def test_arrays_are_not_slow() -> None:
    # Searches in a slow simulator take seconds, so that what decides them is asked.
    def is_slow(low: Any) -> bool:
        return _subject_of(slider(0.1), low, None, {}).low_is_slow

    wide = gymnasium.wrappers.TransformObservation(Cart(), lambda o: o, spaces.Box(-9, 9, (2,), np.float64))
    assert not is_slow(slider(0.0)) and not is_slow(None)
    assert is_slow(hilo.wrap(wide, set_state=lambda env, o: put(env.unwrapped, o)))


def test_a_copy_in_the_state_is_used(tmp_path: Path) -> None:
    used: list[Cart] = []

    def copy(env: Any, observation: Any) -> Cart:
        other = Cart(friction=env.friction)
        other.reset(seed=0)
        put(other, observation)
        used.append(other)
        return other

    assert learn(Cart(), hilo.wrap(Cart(), set_state=copy), tmp_path / "a.journal")
    assert sum(len(other.given) for other in used) >= 200
    # What reset returns is no environment.
    hilo_env = gymnasium.make("hilo/Pendulum-v0", fidelity="low")
    reset = hilo.wrap(hilo_env, set_state=lambda env, o: env.reset(options={"state": o}), identity="hilo's")
    assert learn(gymnasium.make("hilo/Pendulum-v0"), reset, tmp_path / "b.journal")


def make_pendulum() -> Any:
    return gymnasium.make("Pendulum-v1")


@pytest.mark.parametrize(
    ("high", "low"),
    [
        ("Pendulum-v1", "Pendulum-v1"),
        (make_pendulum, make_pendulum),
        (hilo.wrap("Pendulum-v1"), hilo.wrap(make_pendulum)),
        (hilo.wrap(make_pendulum), None),
        ("Pendulum-v1", None),
    ],
)
def test_ids_and_functions_that_make_it_are_taken_for_both_sides(high: Any, low: Any, tmp_path: Path) -> None:
    for episodes in (1, 2):  # and the same call goes on
        learnt = learn(high, low, tmp_path / "a.journal", episodes=episodes, name="p")
        assert learnt.bill["episodes"] == episodes and isinstance(learnt.policy, hilo.NetworkPolicy)
    agent = ALONE if low is None else SMALL
    study = hilo.train(high, low, agent=[agent], episodes=1, seeds=1, max_steps=20, test_episodes=1, progress=False)
    assert isinstance(study.policy(), hilo.NetworkPolicy)


PROGRAM = """
import sys, json
for line in sys.stdin:
    w = line.split()
    if w[0] == "hello":
        start = "none" if "high" in sys.argv else "value"
        box = [[-9, 9], [-9, 9]]
        print(json.dumps({"hilo": 1, "actions": [[-1, 1]], "observation": box, "start": start}), flush=True)
    elif w[0] in ("reset", "start"):
        x = [0.5 + int(w[1]) % 1000 / 1000, 0.0] if w[0] == "reset" else [float(w[2]), float(w[3])]
        print("ok 0", *x, flush=True)
    elif w[0] == "step":
        x[1] = 0.9 * x[1] + 0.1 * float(w[1])
        x[0] = max(-9, min(9, x[0] + 0.1 * x[1]))
        cost = ["cost=5"] if "high" in sys.argv else []
        print("ok", -x[0] ** 2, 0, *x, *cost, flush=True)
"""


def test_programs_can_be_either_side(tmp_path: Path) -> None:
    (tmp_path / "box.py").write_text(PROGRAM)
    command = f"{sys.executable} {tmp_path / 'box.py'}"
    high, low = hilo.program(f"{command} high", vectors=True), hilo.program(command)
    both = learn(high, low, tmp_path / "a.journal")
    assert both.bill["low_steps"] == 200 and isinstance(both.policy, hilo.NetworkPolicy)
    assert both.bill["high_cost"] == 2 * 20 * 5  # what the program says that its steps cost
    assert learn(high, None, tmp_path / "b.journal").bill["low_steps"] == 0
    # One in Python, and one program, which need not say that it is one of vectors.
    assert learn(hilo.program(command), slider(0.0), tmp_path / "c.journal").bill["low_steps"] == 200
    for episodes in (1, 2):
        assert learn(slider(0.0), low, tmp_path / "d.journal", episodes=episodes).bill["low_steps"] == 200

    file = tmp_path / "e.journal"
    numbered = hilo.wrap(lambda s, a, rng: (s, 0.0, False), states=2, actions=2, start=0)
    for given, other, why in (
        (hilo.program(command), None, "or vectors=True of hilo.program"),
        (slider(0.0), hilo.program(f"{command} high"), 'does not know the request "start"'),
        (slider(0.0), hilo.program(command, grid=[2, 2]), "has grid, which is for cells"),
        (slider(0.0), hilo.program(command, angles=[1]), "angles"),
        (hilo.wrap(high, identity="x"), None, "give it to hilo.program"),
        (slider(0.0), lambda state, action, rng: (state, 0.0, False), "has numbered states"),
        (slider(0.0), 42, "42 is no simulator: give a Gymnasium environment"),
        (Cart(), gymnasium.make_vec("Pendulum-v1", num_envs=2), "many environments at once"),
        (numbered, slider(0.0), "simulator of vectors"),
        (slider(0.0), hilo.build_problem("random-mdp"), "has numbered states"),
    ):
        with pytest.raises(hilo.Error, match=why):
            learn(given, other, file)
    with pytest.raises(hilo.Error, match="grid is given, which is for cells"):
        hilo.program(command, vectors=True, grid=[2, 2])
    for wrong in ({"vectors": 1}, {"angles": "0"}, {"angles": [0.5]}):
        with pytest.raises(hilo.Error, match="vectors is 1|angle"):
            hilo.program(command, **wrong)


def test_arrays_with_nonsense_are_refused(tmp_path: Path) -> None:
    def make(following: Any, done: Any) -> hilo.VectorSimulator:
        def step(states: Any, actions: Any, noise: Any) -> Any:
            return following(states), np.zeros(len(states)), done(len(states))

        return hilo.VectorSimulator(
            step, start=lambda rng: [1.0, 0.0], observations=[(-9, 9)] * 2, actions=[(-1, 1)], identity="bad"
        )

    def never(count: int) -> Any:
        return np.zeros(count, bool)

    for following, done, why in (
        (lambda s: s + 1j, never, "returned next of dtype complex128"),
        (lambda s: s.astype(str), never, "returned next of dtype <U32"),
        (lambda s: s, lambda n: np.full(n, np.nan), "returned done with nan"),
        (lambda s: s, lambda n: np.full(n, 2), "returned done with 2"),
    ):
        with warnings.catch_warnings(), pytest.raises(hilo.Error, match=why):
            learn(slider(0.1), make(following, done), tmp_path / "a.journal")
    assert learn(make(lambda s: s, lambda n: np.zeros(n)), None, tmp_path / "b.journal")  # whole numbers are flags
    with pytest.raises(hilo.Error, match="must have 2 numbers"):
        of = slider(0.0)
        short = hilo.VectorSimulator(
            of.step, start=lambda rng: [1.0], observations=[(-9, 9)] * 2, actions=[(-1, 1)], identity="short"
        )
        learn(short, None, tmp_path / "c.journal")


def test_what_is_for_numbered_states_says_so() -> None:
    for vectors in (slider(0.0), gymnasium.make("Pendulum-v1"), "Pendulum-v1"):
        with pytest.raises(hilo.Error, match="are vectors, but hilo.check_simulator.*hilo.serve"):
            hilo.check_simulator(vectors)
    with pytest.raises(hilo.Error, match="is a simulator of vectors, but here states are numbered"):
        hilo.diagnose(slider(0.1), slider(0.0))
    served = hilo.program(f"{sys.executable} -m hilo.serve gymnasium:Pendulum-v1")
    assert hilo.check_simulator(served, episodes=3).good
