"""The engine through Python: arrays, owners, errors, pickles."""

from __future__ import annotations

import gc
import pickle
import threading
from pathlib import Path

import hilo
import numpy as np
import pytest


def small() -> hilo.Problem:
    return hilo.build_problem("random-mdp", seed=3, states=20, actions=3)


def test_errors_keep_their_code() -> None:
    with pytest.raises(hilo.Error, match="snr_dB.*did you mean 'snr_db'") as error:
        hilo.build_problem("random-mdp", snr_dB=3)
    assert error.value.code is hilo.Errc.spec
    with pytest.raises(hilo.Error) as io:
        hilo.load_spec(Path("no-such-file.toml"))
    assert io.value.code is hilo.Errc.io and int(io.value.code) == 5
    copied = pickle.loads(pickle.dumps(io.value))
    assert str(copied) == str(io.value) and copied.code is hilo.Errc.io


def test_values_are_a_view_that_keeps_the_agent_alive() -> None:
    agent = hilo.Agent("mcrl", small().pair, seed=1)
    values = agent.values
    before = values.copy()
    agent.train(200, test_every=100, test_episodes=1)
    assert not np.array_equal(values, before), "the view shows what was learnt"
    assert not values.flags.writeable
    learnt = values.copy()
    del agent
    gc.collect()
    assert np.array_equal(values, learnt)


def test_loading_leaves_older_views_alone() -> None:
    agent = hilo.Agent("mcrl", small().pair, seed=1)
    fresh = agent.save()
    agent.train(100, test_every=100, test_episodes=1)
    view, learnt = agent.values, agent.values.copy()
    agent.load(fresh)
    assert np.array_equal(view, learnt)
    assert not agent.values.any()
    with pytest.raises(hilo.Error, match="saved state|archive|checksum"):
        agent.load(b"nonsense")


def test_views_outlive_their_owners() -> None:
    episode = small().high.run_episode(seed=1)
    states = episode.states
    expected = states.tolist()
    del episode
    model = small().high.model
    assert model is not None
    q = hilo.policy_iteration(model, 0.9).q
    top = q.max()
    gc.collect()
    junk = [np.ones(1000) for _ in range(100)]
    assert states.tolist() == expected and q.max() == top and len(junk) == 100


def test_arrays_go_in_without_a_copy_and_back() -> None:
    model = small().high.model
    assert model is not None
    arrays = model.arrays()
    again = hilo.TabularMdp.from_arrays(**arrays)
    for name, array in again.arrays().items():
        assert np.array_equal(array, arrays[name]), name
    with pytest.raises(TypeError):
        hilo.TabularMdp.from_arrays(**{**arrays, "probability": arrays["probability"].astype("f4")})
    bad = arrays["probability"].copy()
    bad[0] += 0.5
    with pytest.raises(hilo.Error, match="sum to"):
        hilo.TabularMdp.from_arrays(**{**arrays, "probability": bad})


def test_everything_prints_and_pickles() -> None:
    problem = small()
    agent = hilo.Agent("mfmcrl", problem.pair, seed=2, low_rollouts=3, variant="plus")
    agent.train(30, test_every=30, test_episodes=1)
    model = problem.high.model
    moments = hilo.Moments()
    moments.add(2.0)
    things = [
        problem,
        problem.pair,
        problem.high,
        problem.low,
        problem.pair.map,
        model,
        hilo.make_simulator(model),  # type: ignore[arg-type]
        hilo.Fidelities(problem.high, problem.low),
        problem.high.run_episode(seed=1),
        agent,
        agent.q,
        moments,
        hilo.Grid([0], [1], [3]),
        hilo.summarise(np.array([1.0, 2.0])),
        hilo.Bounded(1.0, 2.0),
        hilo.make_simulator(model, "inverse-cdf"),  # type: ignore[arg-type]
    ]
    for thing in things:
        assert " at 0x" not in repr(thing), repr(thing)
        again = pickle.loads(pickle.dumps(thing))
        assert type(again) is type(thing)
        assert repr(again) == repr(thing)
    copy = pickle.loads(pickle.dumps(agent))
    agent.train(60, test_every=60, test_episodes=1)
    copy.train(60, test_every=60, test_episodes=1)
    assert np.array_equal(agent.values, copy.values), "it goes on with the same bits"


def test_stepping_by_hand_is_training() -> None:
    by_hand = hilo.Agent("mfmcrl", small().pair, seed=4)
    for _ in range(50):
        by_hand.learn(by_hand.run_episode())
    at_once = hilo.Agent("mfmcrl", small().pair, seed=4)
    at_once.train(50, test_every=50, test_episodes=3)
    assert np.array_equal(by_hand.values, at_once.values)


def test_exact_values_agree_with_numpy() -> None:
    p = np.zeros((3, 1, 3))
    p[0, 0] = [0.5, 0.25, 0.25]
    p[1, 0] = [0, 0.5, 0.5]
    mdp = hilo.from_dense(p, [[1.0], [2.0], [0.0]], [1, 0, 0], terminal=[2])
    v, q = hilo.evaluate_policy(mdp, np.zeros(3, np.uint32), 0.9)
    expected = np.linalg.solve(np.eye(2) - 0.9 * p[:2, 0, :2], [1, 2])
    np.testing.assert_allclose(v[:2], expected, rtol=1e-12)
    np.testing.assert_allclose(q[:, 0], v, rtol=1e-12)
    assert hilo.start_value(mdp, v) == v[0]
    simulator = hilo.make_simulator(mdp)
    returns = simulator.run_episodes(200_000, gamma=0.9, seed=1).discounted_return
    error = returns.std() / np.sqrt(len(returns))
    assert abs(returns.mean() - v[0]) < 4 * error  # one false alarm in 16,000


def test_roll_outs_start_where_they_are_told() -> None:
    low = small().low
    out = low.roll_out(np.array([1, 5], np.uint32), np.array([0, 2], np.uint32), 4, max_steps=1)
    assert len(out) == 8 and (out.steps == 1).all()
    assert out.reward_sum[0] == low.reward(1, 0, 0)
    with pytest.raises(hilo.Error, match="start state is 99"):
        low.roll_out(np.array([99], np.uint32), np.array([0], np.uint32))


def test_theory() -> None:
    assert hilo.best_ratio(0.9, 100) == pytest.approx(np.sqrt(100 * 0.81 / 0.19))
    assert hilo.samples_needed(hilo.Bounded(1.0, 1.0), 0.5, 0.05) == np.ceil(16 * np.log(40))
    assert hilo.break_even_cost_ratio(0.5) > 1 > hilo.error_at_equal_cost(0.99, 1000)
    estimator = hilo.Estimator("paper", 2)
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = rng.normal()
        estimator.add_paired(0, 1 + x, x)
    estimator.add_free(0, rng.normal(size=5000))
    estimate = estimator.estimate(0)
    assert estimate.variance_ratio < 1e-9 and abs(estimate.value - 1) < 0.1


def test_the_gil_is_released() -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    hilo.build_problem("random-mdp", seed=0, states=600, actions=8)
    model = hilo.build_problem("random-mdp", seed=0, states=1000, actions=4).high.model
    assert model is not None
    hilo.policy_iteration(model, 0.99)
    stop.set()
    thread.join()
    assert ticks > 5


def test_an_agent_works_for_one_thread_at_a_time() -> None:
    agent = hilo.Agent("bayes", hilo.build_problem("random-mdp").pair)
    errors: list[str] = []

    def train() -> None:
        try:
            agent.train(300, test_every=300, test_episodes=1)
        except hilo.Error as e:
            errors.append(str(e))

    threads = [threading.Thread(target=train) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agent.episodes == 300
    assert all("another thread" in text for text in errors)


def test_bad_arguments_are_errors_and_no_crashes() -> None:
    with pytest.raises(hilo.Error, match="num_pairs is 0"):
        hilo.Estimator("paper", 0)
    with pytest.raises(hilo.Error, match="variant is 'pluss'"):
        hilo.Agent("mfmcrl", small().pair, variant="pluss")
    with pytest.raises(hilo.Error, match="must be a bool, a whole number"):
        hilo.build_problem("random-mdp", states=[1])


def test_a_walker_in_python_meets_new_chance_at_every_step() -> None:
    def anywhere(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        return int(rng.integers(10)), 0.0, False

    simulator = hilo.pair(anywhere, anywhere, states=10, actions=1, start=0).low
    walker = hilo.Walker(simulator)
    walker.reset()
    assert len({walker.step(0)[0] for _ in range(20)}) > 3


def test_a_walker_refuses_what_makes_no_sense() -> None:
    walker = hilo.Walker(small().high)
    with pytest.raises(hilo.Error, match="call reset"):
        walker.step(0)
    walker.reset()
    with pytest.raises(hilo.Error, match="action is 99"):
        walker.step(99)
