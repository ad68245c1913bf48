"""Whatever a public function is given, it takes it or says in hilo's words why not."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import hilo
import numpy as np
import pytest
from conftest import sure_walk, walk
from hilo import environments
from hilo._arguments import _parameters_of

WALK: dict[str, Any] = {"states": 10, "actions": 2, "start": 0}
QUICK: dict[str, Any] = {"episodes": 20, "seeds": 2, "progress": False}
SPEC = """spec_version = 1
name = "s"
[problem]
kind = "random-mdp"
states = 12
[train]
episodes = 20
[[agent]]
kind = "mcrl"
"""


LEARN_SPEC = """spec_version = 1
name = "s"
[problem]
kind = "random-mdp"
states = 12
actions = 8
[budget]
episodes = 5
"""


BAD: dict[str, Any] = {
    "None": None,
    "text": "nonsense",
    "no text": "",
    "lone surrogate": "\ud800",
    "-1": -1,
    "1.5": 1.5,
    "-0.5": -0.5,
    "NaN": math.nan,
    "infinity": math.inf,
    "huge": 2**80,
    "huger": 10**400,
    "beyond 32 bits": 2**40,
    "beyond 63 bits": 2**63,
    "np.float32": np.float32(1.5),
    "np.float64": np.float64(math.nan),
    "np.int8": np.int8(-3),
    "complex": 1j,
    "bytes": b"x",
    "empty list": [],
    "list": [0.5, "x"],
    "ragged list": [[1, 2], [3]],
    "dict": {"x": 1},
    "three dimensions": np.zeros((2, 2, 2)),
    "objects": np.array([None, "x"], dtype=object),
    "NaN array": np.full(3, math.nan),
    "int array": np.array([2**40, -1]),
    "function": lambda: None,
    "class": int,
    "object": object(),
}


class World:
    """Something of everything, small and made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problem = hilo.build_problem("random-mdp", states=12, actions=3)
        self.pair = self.problem.pair
        self.low = self.problem.low
        self.mdp = hilo.make_random_mdp(12, 3, start_states=4)
        self.mdp.save(folder / "mdp")
        self.pair.save(folder / "pair")
        self.q = hilo.QTable(12, 3)
        self.agent = hilo.Agent("mcrl", self.pair)
        self.episode = self.agent.run_episode()
        self.moments, self.pairs = hilo.Moments(), hilo.CoMoments()
        for x in (1.0, 2.0, 4.0):
            self.moments.add(x)
            self.pairs.add(x, x * x)
        self.bounded = hilo.Bounded(1.0, 2.0)
        self.grid = hilo.Grid([0, 0], [1, 1], [3, 3])
        self.study = hilo.train(
            hilo.wrap(walk, **WALK),
            hilo.wrap(sure_walk, **WALK),
            name="walk",
            store=folder / "walk.db",
            **QUICK,
        )
        self.policy = self.study.policy("MCRL", 0)
        self.files = itertools.count()
        (folder / "learn.toml").write_text(LEARN_SPEC)
        self.learn_spec = hilo.load_learn_spec(folder / "learn.toml")
        self.learnt = hilo.learn(**learnt(self))
        self.evaluated = hilo.evaluate(**evaluated(self))
        (folder / "spec.toml").write_text(SPEC)
        self.spec = hilo.load_spec(folder / "spec.toml")
        self.run_episode = asked(self).ask().run_in(asked(self).high)


def asked(w: World) -> hilo.Run:
    """A run that waits for its first episode."""
    run = hilo.Run(w.spec, "MCRL")
    run.ask()
    return run


def new_file(w: World) -> Path:
    return w.folder / f"new-{next(w.files)}"


def to_the_right(state: int) -> int:
    return 1


def evaluated(w: World) -> dict[str, Any]:
    return dict(
        policy=to_the_right,
        high=hilo.wrap(walk, **WALK),
        lows=[hilo.wrap(sure_walk, **WALK)],
        budget=4,
        cost=None,
        until=None,
        costs=None,
        quantity="return",
        success_above=None,
        gamma=1.0,
        max_steps=20,
        coupling="auto",
        retries=0,
        on_failure="skip",
        seed=1,
        name="walk",
        journal=new_file(w),
        sync=False,
        progress=None,
    )


def learnt(w: World) -> dict[str, Any]:
    return dict(
        high=hilo.wrap(walk, **WALK),
        low=hilo.wrap(sure_walk, **WALK),
        episodes=5,
        steps=None,
        cost=None,
        wall=None,
        reserve=1,
        map=None,
        agent="mcrl",
        costs={"high_step": 1.0},
        retries=0,
        on_failure="stop",
        pilot=0,
        reuse=None,
        gamma=0.9,
        epsilon=0.1,
        max_steps=50,
        truncation="terminal",
        lag=1,
        seed=0,
        name="walk",
        journal=new_file(w),
        sync=False,
        progress=False,
    )


def learner(w: World) -> hilo.Learner:
    return hilo.Learner(w.learn_spec, new_file(w), False)


def asked_learner(w: World) -> hilo.Learner:
    """A learner that waits for its first episode."""
    waiting = learner(w)
    waiting.ask()
    return waiting


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def copy(w: World, thing: Any) -> Any:
    """A QTable of its own, so that tests do not change each other's."""
    return hilo.QTable.from_values(np.array(thing.values))


def table() -> dict[int, dict[int, list[Any]]]:
    return {0: {0: [(1.0, 1, 1.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}


def trained(w: World) -> dict[str, Any]:
    return {
        "high": hilo.wrap(walk, **WALK),
        "low": hilo.wrap(sure_walk, **WALK),
        "map": list(range(10)),
        "agent": "mcrl",
        "episodes": 20,
        "seeds": 2,
        "gamma": 0.9,
        "epsilon": 0.1,
        "max_steps": 100,
        "truncation": "terminal",
        "test_every": 10,
        "test_episodes": 1,
        "name": "n",
        "store": None,
        "threads": 1,
        "spend": True,
        "max_episodes": None,
        "progress": False,
    }


def diagnosed(w: World) -> dict[str, Any]:
    same = ("high", "low", "map", "episodes", "gamma", "epsilon", "max_steps", "truncation")
    return {
        **{key: value for key, value in trained(w).items() if key in same},
        "low_rollouts": 1,
        "seed": 0,
        "policy": None,
        "train_episodes": 100,
        "returns": 0,
        "cost_high": 2,
        "cost_low": 1,
        "name": "n",
        "store": None,
        "progress": False,
    }


def wrapped(**options: Any) -> None:
    """hilo.wrap, and what is made of it."""
    thing = options.pop("thing")
    hilo.pair(hilo.wrap(walk, **WALK), hilo.wrap(thing, **options))


def in_grid(**options: Any) -> None:
    cart = gymnasium.make("CartPole-v1")
    fine = hilo.Grid.of(cart.observation_space, 3, low=[-2] * 4, high=[2] * 4)
    hilo.wrap(cart, **{"grid": fine, **options})


def set_item(q: hilo.QTable) -> Callable[..., None]:
    return lambda at, value: q.__setitem__(at, value)


# By name, a function and valid arguments. The tests replace one argument at a time.
CALLS: dict[str, Callable[[World], tuple[Callable[..., Any], dict[str, Any]]]] = {
    "train": lambda w: (hilo.train, trained(w)),
    "train on a problem": lambda w: (
        hilo.train,
        dict(high=w.problem, agent="mcrl", episodes=20, seeds=1, gamma=0.9, progress=False),
    ),
    "learn": lambda w: (hilo.learn, learnt(w)),
    "evaluate": lambda w: (hilo.evaluate, evaluated(w)),
    "Evaluated.report": lambda w: (w.evaluated.report, dict(out=new_file(w), force=False)),
    "mlblue_allocation": lambda w: (
        hilo.mlblue_allocation,
        dict(covariances=np.eye(2), costs=[1.0, 0.1], budget=10.0, rounded=True),
    ),
    "mfmc_plan": lambda w: (
        hilo.mfmc_plan,
        dict(covariances=np.eye(2), costs=[1.0, 0.1], budget=10.0, rounded=True),
    ),
    "program": lambda w: (hilo.program, dict(command="true")),
    "check_simulator": lambda w: (
        hilo.check_simulator,
        dict(
            simulator=hilo.wrap(walk, **WALK),
            role="low",
            episodes=3,
            max_steps=50,
            seed=1,
            deterministic=False,
        ),
    ),
    "load_learn_spec": lambda w: (
        hilo.load_learn_spec,
        dict(file=w.folder / "learn.toml", overrides=["budget.episodes=5"]),
    ),
    "Learner": lambda w: (
        hilo.Learner,
        dict(spec=w.learn_spec, journal=new_file(w), sync=False, checkpoint_every=1.0, reuse=[]),
    ),
    "Learner.spend": lambda w: (learner(w).spend, dict(on_progress=None)),
    "Learner.tell": lambda w: (asked_learner(w).tell, dict(episode=w.run_episode, cost=None)),
    "Learner.tell_failure": lambda w: (asked_learner(w).tell_failure, dict(error="x", cost=None)),
    "LearnRequest.action": lambda w: (learner(w).ask().action, dict(step=0, state=0)),
    "Learnt.save": lambda w: (w.learnt.save, dict(file=new_file(w), force=False)),
    "Learnt.report": lambda w: (w.learnt.report, dict(out=new_file(w), force=False)),
    "diagnose": lambda w: (hilo.diagnose, diagnosed(w)),
    "run": lambda w: (
        hilo.run,
        dict(
            spec=SPEC,
            store=w.folder / "run.db",
            seeds=1,
            overrides=["train.episodes=5"],
            threads=1,
            progress=False,
        ),
    ),
    "wrap": lambda w: (
        wrapped,
        dict(
            thing=sure_walk,
            states=10,
            actions=2,
            start=0,
            terminal=[9],
            hold=1,
            identity="x",
            reward=lambda s, a, n: 0.0,
        ),
    ),
    "wrap in cells": lambda w: (in_grid, dict(grid=None, action_grid=None, set_state=None)),
    "pair": lambda w: (
        hilo.pair,
        dict(high=hilo.wrap(walk, **WALK), low=hilo.wrap(sure_walk, **WALK), map=None),
    ),
    "Grid": lambda w: (hilo.Grid, dict(low=[0, 0], high=[1, 1], bins=[2, 2], whole=False)),
    "Grid.of": lambda w: (
        hilo.Grid.of,
        dict(space=gymnasium.spaces.Box(-1, 1, (2,)), bins=3, low=[-1, -1], high=[1, 1]),
    ),
    "Grid.indices": lambda w: (w.grid.indices, dict(observations=[[0.5, 0.5]])),
    "Grid.index": lambda w: (w.grid.index, dict(observation=[0.5, 0.5])),
    "Grid.centre": lambda w: (w.grid.centre, dict(index=3)),
    "Grid.point": lambda w: (w.grid.point, dict(index=3, shares=[0.5, 0.5])),
    "Grid.map_to": lambda w: (w.grid.map_to, dict(other=w.grid)),
    "Study": lambda w: (hilo.Study, dict(store=w.folder / "walk.db", experiment="walk")),
    "Study.final": lambda w: (w.study.final, dict(agent="MCRL", metric="train_return")),
    "Study.difference": lambda w: (w.study.difference, dict(agent="MFMCRL+", baseline="MCRL")),
    "Study.policy": lambda w: (w.study.policy, dict(agent="MCRL", seed=0)),
    "Study.report": lambda w: (w.study.report, dict(out=w.folder / "page.html")),
    "Study.plot": lambda w: (w.study.plot, dict(file=None, metric="train_return")),
    "Policy.state_of": lambda w: (w.policy.state_of, dict(observation=3)),
    "Policy.greedy_actions": lambda w: (w.policy.greedy_actions, dict(observation=3)),
    "Policy.__call__": lambda w: (w.policy, dict(observation=3)),
    "build_problem": lambda w: (
        hilo.build_problem,
        dict(kind="random-mdp", seed=0, states=12, snr_db=3, projection="clip"),
    ),
    "Fidelities": lambda w: (hilo.Fidelities, dict(high=w.low, low=w.low, map=None)),
    "Fidelities.save": lambda w: (w.pair.save, dict(folder=w.folder / "saved")),
    "Fidelities.load": lambda w: (hilo.Fidelities.load, dict(folder=w.folder / "pair")),
    "StateMap": lambda w: (hilo.StateMap, dict(low_of=[0, 1], num_low_states=2)),
    "StateMap.identity": lambda w: (hilo.StateMap.identity, dict(num_states=3)),
    "StateMap.high_of": lambda w: (w.pair.map.high_of, dict(low=1)),
    "EpisodeSimulator.run_episode": lambda w: (
        w.low.run_episode,
        dict(policy=w.q, epsilon=0.1, seed=1, episode=2, gamma=0.9, max_steps=50),
    ),
    "EpisodeSimulator.run_episodes": lambda w: (
        w.low.run_episodes,
        dict(count=3, policy=w.q, epsilon=0.1, seed=1, episode=2, gamma=0.9, max_steps=50),
    ),
    "Simulator.is_terminal": lambda w: (w.low.is_terminal, dict(state=1)),
    "Simulator.reward": lambda w: (w.low.reward, dict(state=1, action=1, next=2)),
    "Simulator.roll_out": lambda w: (
        w.low.roll_out,
        dict(
            states=[1],
            actions=[0],
            rollouts=2,
            policy=w.q,
            epsilon=0.1,
            seed=1,
            episode=2,
            gamma=0.9,
            max_steps=50,
        ),
    ),
    "PythonEpisodes": lambda w: (
        hilo.PythonEpisodes,
        dict(source=object(), num_states=3, num_actions=2, terminal=[1]),
    ),
    "PythonSimulator": lambda w: (
        hilo.PythonSimulator,
        dict(source=object(), num_states=3, num_actions=2, terminal=[1]),
    ),
    "make_simulator": lambda w: (hilo.make_simulator, dict(mdp=w.mdp, sampling="alias")),
    "Model.is_terminal": lambda w: (w.mdp.is_terminal, dict(state=1)),
    "Model.outcomes": lambda w: (w.mdp.outcomes, dict(state=1, action=1)),
    "TabularMdp.from_arrays": lambda w: (hilo.TabularMdp.from_arrays, w.mdp.arrays()),
    "TabularMdp.save": lambda w: (w.mdp.save, dict(folder=w.folder / "saved")),
    "TabularMdp.load": lambda w: (hilo.TabularMdp.load, dict(folder=w.folder / "mdp")),
    "from_table": lambda w: (hilo.from_table, dict(table=table(), start=[1, 0])),
    "from_dense": lambda w: (
        hilo.from_dense,
        dict(
            transitions=[[[0, 1]], [[0, 1]]], rewards=[[1], [0]], start=[1, 0], terminal=[1]
        ),
    ),
    "make_random_mdp": lambda w: (
        hilo.make_random_mdp,
        dict(states=12, actions=2, terminal_probability=0.1, start_states=3, seed=0),
    ),
    "degrade": lambda w: (
        hilo.degrade,
        dict(high=w.mdp, snr_db=0.0, projection="simplex", seed=0),
    ),
    "project": lambda w: (hilo.project, dict(rows=[0.5, 0.7, -0.2], projection="simplex")),
    "Docking": lambda w: (hilo.Docking, dict(cells=10, speeds=3)),
    "Docking.motion": lambda w: (hilo.Docking().motion, dict(state=3)),
    "nas_architecture": lambda w: (hilo.nas_architecture, dict(architecture=3)),
    "Episode": lambda w: (
        hilo.Episode,
        dict(states=[0, 1], actions=[0], rewards=np.ones(1), truncated=False),
    ),
    "Walker": lambda w: (hilo.Walker, dict(simulator=w.low, seed=0)),
    "Walker.set_seed": lambda w: (hilo.Walker(w.low).set_seed, dict(seed=1)),
    "Walker.reset_to": lambda w: (hilo.Walker(w.low).reset_to, dict(state=1)),
    "Walker.step": lambda w: (hilo.Walker(w.low).step, dict(action=1)),
    "Walkers": lambda w: (hilo.Walkers, dict(simulator=w.low, count=2)),
    "Walkers.set_seed": lambda w: (hilo.Walkers(w.low, 2).set_seed, dict(walker=1, seed=1)),
    "Walkers.reset": lambda w: (hilo.Walkers(w.low, 2).reset, dict(walker=1)),
    "Walkers.reset_to": lambda w: (hilo.Walkers(w.low, 2).reset_to, dict(walker=1, state=2)),
    "Walkers.step": lambda w: (
        hilo.Walkers(w.low, 2).step,
        dict(actions=np.zeros(2, dtype=np.int64), skip=np.ones(2, dtype=np.uint8)),
    ),
    "discounted_returns": lambda w: (
        hilo.discounted_returns,
        dict(rewards=np.ones(3), gamma=0.9),
    ),
    "Agent": lambda w: (
        hilo.Agent,
        dict(
            kind="mfmcrl",
            pair=w.pair,
            seed=0,
            gamma=0.9,
            epsilon=0.1,
            max_steps=50,
            truncation="drop",
            low_rollouts=2,
            variant="plus",
        ),
    ),
    "Agent.standard_error": lambda w: (w.agent.standard_error, dict(state=1, action=1)),
    "Agent.learn": lambda w: (w.agent.learn, dict(episode=w.episode)),
    "Agent.train": lambda w: (
        hilo.Agent("mcrl", w.pair).train,
        dict(episodes=5, test_every=5, test_episodes=1, exact_every=5),
    ),
    "Agent.load": lambda w: (w.agent.load, dict(state=w.agent.save())),
    "Run": lambda w: (hilo.Run, dict(spec=w.spec, agent="MCRL", seed=0)),
    "Run.tell": lambda w: (asked(w).tell, dict(episode=w.run_episode)),
    "Run.load": lambda w: (asked(w).load, dict(state=asked(w).save())),
    "EpisodeRequest.action": lambda w: (asked(w).ask().action, dict(step=0, state=1)),
    "EpisodeRequest.run_in": lambda w: (asked(w).ask().run_in, dict(simulator=asked(w).high)),
    "QTable": lambda w: (hilo.QTable, dict(num_states=3, num_actions=2)),
    "QTable.from_values": lambda w: (hilo.QTable.from_values, dict(values=np.ones((3, 2)))),
    "QTable.greedy_actions": lambda w: (w.q.greedy_actions, dict(state=1)),
    "QTable.__getitem__": lambda w: (lambda at: w.q[at], dict(at=(1, 1))),
    "QTable.__setitem__": lambda w: (set_item(copy(w, w.q)), dict(at=(1, 1), value=2.0)),
    "Estimator": lambda w: (
        hilo.Estimator,
        dict(name="paper", num_pairs=3, alpha="pooled", forgetting=0.99),
    ),
    "Estimator.add_paired": lambda w: (
        hilo.Estimator("paper", 3).add_paired,
        dict(pair=1, high=1.0, low=2.0),
    ),
    "Estimator.add_free": lambda w: (
        hilo.Estimator("paper", 3).add_free,
        dict(pair=1, returns=np.ones(2)),
    ),
    "Estimator.estimate": lambda w: (hilo.Estimator("paper", 3).estimate, dict(pair=1)),
    "Moments.add": lambda w: (hilo.Moments().add, dict(x=1.0, w=1.0)),
    "Moments.merge": lambda w: (hilo.Moments().merge, dict(other=w.moments)),
    "Moments.__eq__": lambda w: (lambda other: w.moments == other, dict(other=w.moments)),
    "CoMoments.add": lambda w: (hilo.CoMoments().add, dict(x=1.0, y=1.0, w=1.0)),
    "CoMoments.merge": lambda w: (hilo.CoMoments().merge, dict(other=w.pairs)),
    "CoMoments.__eq__": lambda w: (lambda other: w.pairs == other, dict(other=w.pairs)),
    "sample_mean": lambda w: (hilo.sample_mean, dict(returns=w.moments)),
    "control_variate": lambda w: (hilo.control_variate, dict(pairs=w.pairs, mu_lo=1.0)),
    "Bounded": lambda w: (hilo.Bounded, dict(variance=1.0, b=2.0)),
    "return_bound": lambda w: (
        hilo.return_bound,
        dict(reward_min=0.0, reward_max=1.0, gamma=0.9),
    ),
    "control_variate_of": lambda w: (
        hilo.control_variate_of,
        dict(high=w.bounded, rho=0.5, alpha=1.0, b_low=1.0),
    ),
    "tail_bound": lambda w: (hilo.tail_bound, dict(x=w.bounded, n=10, xi=0.1)),
    "range_of_lemma_1": lambda w: (hilo.range_of_lemma_1, dict(x=w.bounded)),
    "samples_needed": lambda w: (hilo.samples_needed, dict(x=w.bounded, xi=0.1, delta=0.1)),
    "greedy_is_best_bound": lambda w: (
        hilo.greedy_is_best_bound,
        dict(best_variance=1.0, rivals=[(1.0, 1.0)]),
    ),
    "best_ratio": lambda w: (hilo.best_ratio, dict(rho=0.5, w=10.0)),
    "error_at_equal_cost": lambda w: (hilo.error_at_equal_cost, dict(rho=0.5, w=10.0)),
    "break_even_cost_ratio": lambda w: (hilo.break_even_cost_ratio, dict(rho=0.5)),
    "value_iteration": lambda w: (
        hilo.value_iteration,
        dict(model=w.mdp, gamma=0.9, tolerance=1e-6),
    ),
    "policy_iteration": lambda w: (hilo.policy_iteration, dict(model=w.mdp, gamma=0.9)),
    "evaluate_policy": lambda w: (
        hilo.evaluate_policy,
        dict(model=w.mdp, policy=w.q.greedy, gamma=0.9),
    ),
    "policy_matrix": lambda w: (hilo.policy_matrix, dict(q=w.q, epsilon=0.1)),
    "start_value": lambda w: (hilo.start_value, dict(model=w.mdp, v=np.ones(12))),
    "expected_mean_reward": lambda w: (
        hilo.expected_mean_reward,
        dict(model=w.mdp, policy=w.q.greedy, max_steps=50),
    ),
    "return_moments": lambda w: (
        hilo.return_moments,
        dict(model=w.mdp, policy=w.q.greedy, gamma=0.9),
    ),
    "parse_spec": lambda w: (
        hilo.parse_spec,
        dict(text=SPEC, where="here", overrides=["train.episodes=5"], own=None),
    ),
    "load_spec": lambda w: (
        hilo.load_spec,
        dict(file=w.folder / "spec.toml", overrides=["train.episodes=5"]),
    ),
    "Store": lambda w: (hilo.Store, dict(file=w.folder / "walk.db", writable=False)),
    "Store.agents": lambda w: (w.study.store.agents, dict(experiment="walk")),
    "Store.status": lambda w: (w.study.store.status, dict(experiment="walk")),
    "Store.columns": lambda w: (w.study.store.columns, dict(experiment="walk")),
    "Store.results": lambda w: (w.study.store.results, dict(experiment="walk")),
    "Store.failed_runs": lambda w: (w.study.store.failed_runs, dict(experiment="walk")),
    "Store.policy": lambda w: (
        w.study.store.policy,
        dict(experiment="walk", agent="MCRL", seed=0),
    ),
    "Store.spec": lambda w: (w.study.store.spec, dict(experiment="walk")),
    "Store.diagnosis": lambda w: (w.study.store.diagnosis, dict(experiment="walk")),
    "Store.findings": lambda w: (w.study.store.findings, dict(experiment="walk")),
    "Store.report": lambda w: (w.study.store.report, dict(out=w.folder / "page.md")),
    "Store.merge": lambda w: (w.study.store.merge, dict(files=[])),
    "Results": lambda w: (
        hilo.Results,
        dict(store=w.study.store._file.get(), experiment="walk"),
    ),
    "Results.seeds": lambda w: (w.study.results.seeds, dict(agent="MCRL")),
    "Results.has_metric": lambda w: (w.study.results.has_metric, dict(metric="x")),
    "Results.episodes": lambda w: (
        w.study.results.episodes,
        dict(agent="MCRL", metric="train_return"),
    ),
    "Results.at": lambda w: (
        w.study.results.at,
        dict(agent="MCRL", metric="train_return", episode=20),
    ),
    "Results.final": lambda w: (
        w.study.results.final,
        dict(agent="MCRL", metric="train_return"),
    ),
    "Results.final_values": lambda w: (
        w.study.results.final_values,
        dict(agent="MCRL", metric="train_return"),
    ),
    "Results.paired_difference": lambda w: (
        w.study.results.paired_difference,
        dict(agent="MFMCRL+", baseline="MCRL", metric="train_return"),
    ),
    "Results.learning_table": lambda w: (
        w.study.results.learning_table,
        dict(metric="train_return"),
    ),
    "Results.difference_table": lambda w: (
        w.study.results.difference_table,
        dict(metric="train_return"),
    ),
    "Results.draw": lambda w: (
        w.study.results.draw,
        dict(metric="train_return", folder=w.folder / "figures", stem="x"),
    ),
    "summarise": lambda w: (hilo.summarise, dict(values=np.ones(3))),
    "Error": lambda w: (hilo.Error, dict(message="x", code=hilo.Errc.usage)),
    "RandomMdpEnv": lambda w: (
        environments.RandomMdpEnv,
        dict(fidelity="low", problem_seed=0, render_mode=None, states=12, snr_db=3),
    ),
    "VectorSimulator": lambda w: (
        hilo.VectorSimulator,
        dict(
            step=still, start=lambda rng: [0.0, 0.0], observations=[(-9, 9)] * 2, actions=[(-1, 1)],
            noise=2, angles=[0], max_steps=9, identity="still",
        ),
    ),
    "DockingEnv": lambda w: (
        environments.DockingEnv,
        dict(fidelity="low", problem_seed=0, render_mode=None, cells=10),
    ),
    "RandomMdpEnv.reset": lambda w: (
        environments.RandomMdpEnv(states=12).reset,
        dict(seed=1, options={"state": 1}),
    ),
    "RandomMdpEnv.step": lambda w: (stepping(environments.RandomMdpEnv(states=12)), dict(action=1)),
    "RandomMdpVectorEnv": lambda w: (
        environments.RandomMdpVectorEnv,
        dict(num_envs=2, fidelity="low", problem_seed=0, render_mode=None, states=12),
    ),
    "RandomMdpVectorEnv.reset": lambda w: (
        environments.RandomMdpVectorEnv(2, states=12).reset,
        dict(seed=1, options={"state": 1}),
    ),
    "RandomMdpVectorEnv.step": lambda w: (
        stepping(environments.RandomMdpVectorEnv(2, states=12)),
        dict(actions=np.zeros(2, dtype=np.int64)),
    ),
}


def still(states: Any, actions: Any, noise: Any) -> Any:
    return states, np.zeros(len(states)), np.zeros(len(states), bool)


def stepping(env: Any) -> Callable[..., Any]:
    env.reset(seed=1)
    return env.step  # type: ignore[no-any-return]


# Not tried: functions without arguments, and classes that only the engine makes.
WITHOUT_ARGUMENTS = {
    *("Learner.ask", "Learner.policy_json", "Learner.page", "LearnRequest", "LearnRequest.json", "LearnSpec", "Learnt"),
    *("Run.ask", "Run.finish", "Run.save", "EpisodeRequest"),
    *("Program", "SimulatorFinding", "SimulatorFindings"),
    *("Evaluated", "Evaluated.plot", "EvaluatedEpisode", "Worth"),
    *("Agent.prepare", "Agent.run_episode", "Agent.save", "Model.arrays", "Walker.reset"),
    *("Store.close", "Store.experiments", "Study.columns", "Study.findings"),
    *("add_agent_kind", "agent_kinds", "problem_kinds", "estimator_kinds", "metric_kinds", "shipped_specs", "version", "commit"),
    *("Moments", "CoMoments", "Problem", "Simulator", "EpisodeSimulator", "Model", "TabularMdp"),
    *("ControlVariate", "CorrectedEstimate", "RolloutSummaries", "Solution", "Spec"),
    *("StoredPolicy", "Summary", "Diagnosis", "Wrapped", "Policy", "NetworkPolicy", "Errc", "Fidelities.map"),
}


def public_callables() -> set[str]:
    out = set()
    for name in hilo.__all__:
        thing = getattr(hilo, name)
        out.add(name)
        if isinstance(thing, type) and not issubclass(thing, (int, Exception)):
            for key, member in vars(thing).items():
                if not key.startswith("_") and not isinstance(member, property):
                    if callable(getattr(thing, key)):
                        out.add(f"{name}.{key}")
    return out


def test_every_public_function_is_tried() -> None:
    assert public_callables() - set(CALLS) - WITHOUT_ARGUMENTS == set()


@pytest.mark.parametrize("name", CALLS)
def test_every_parameter_is_tried(world: World, name: str) -> None:
    function, good = CALLS[name](world)
    native = getattr(function, "__nb_signature__", None)
    if native:
        known = {p.name for p in _parameters_of(native[0][0].splitlines()[-1])[0]}
    elif function in (hilo.train, hilo.learn, hilo.evaluate, hilo.diagnose, hilo.run, hilo.pair, hilo.project):
        kinds = inspect.signature(function).parameters
        known = {key for key, p in kinds.items() if p.kind is not p.VAR_KEYWORD}
    else:
        return
    assert known - set(good) == set() or " " in name


# Words in messages of NumPy, nanobind and Python. No message of hilo may contain them.
FOREIGN = re.compile(
    r"incompatible function arguments|object is not|takes \d+ positional|dtype\('"
)


# Parameters that accept a function. An exception of that function is not an error of hilo.
TAKE_FUNCTIONS = ("high", "low", "lows", "policy", "quantity", "thing", "map", "progress", "on_progress", "start", "step", "reward", "set_state")


def check(function: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    """What is wrong with how the call ends, or nothing."""
    try:
        function(**arguments)
    except hilo.Error as error:
        message = str(error)
        if FOREIGN.search(message) or not message:
            return f"says {message!r}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    return None


@pytest.mark.filterwarnings("ignore")  # warnings about values that are odd but valid
@pytest.mark.parametrize("name", CALLS)
def test_errors_are_those_of_hilo(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # a text may be used as a path
    function, good = CALLS[name](world)
    assert check(function, good) is None
    wrong = []
    for key in good:
        for what, bad in BAD.items():
            if key in TAKE_FUNCTIONS and callable(bad):
                continue
            function, good = CALLS[name](world)
            problem = check(function, {**good, key: bad})
            if problem:
                wrong.append(f"{name}({key} = {what}) {problem}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_whole_numbers_of_numpy_are_whole_numbers(world: World, name: str, tmp_path: Path) -> None:
    _, good = CALLS[name](world)
    for key, value in good.items():
        if isinstance(value, int) and not isinstance(value, bool):
            for kind in (np.int64, np.uint8):
                function, good = CALLS[name](world)
                assert check(function, {**good, key: kind(value)}) is None, key


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: hilo.build_problem("docking", seed=-1),
            "build_problem: seed is -1 of type int, but must be a whole number from 0 on",
        ),
        (
            lambda: hilo.QTable(3.5, 2),
            "QTable: num_states is 3.5 of type float, but must be a whole number from 0 on",
        ),
        (
            lambda: hilo.Moments().add("1"),
            "add: x is '1' of type str, but must be a number",
        ),
        (
            lambda: hilo.value_iteration(None, 0.9),
            "value_iteration: model is None, but must be a hilo.Model",
        ),
        (
            lambda: hilo.summarise([1.0, 2.0]),
            "summarise: values is [1.0, 2.0] of type list, but must be a NumPy array of float64 of "
            "one dimension, in C order",
        ),
        (
            lambda: hilo.best_ratio(0.5, weight=3),
            "best_ratio: there is no argument 'weight' (there are: rho, w)",
        ),
        (lambda: hilo.best_ratio(0.5), "best_ratio: w must be given"),
        (lambda: hilo.best_ratio(0.5, 2, 3), "best_ratio: 3 arguments are given"),
        (lambda: hilo.version(1), "version: 1 arguments are given, but it takes no arguments"),
        (
            lambda: hilo.build_problem("docking").low.run_episode(max_steps=2**40),
            "run_episode: max_steps is 1099511627776 of type int, which is too large",
        ),
        (
            lambda: hilo.QTable(3, 2)[1],
            "[]: the place is 1 of type int, but must be a tuple of 2: ",
        ),
    ],
)
def test_errors_name_the_argument_and_what_it_must_be(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(hilo.Error) as error:
        call()
    assert str(error.value).startswith(words)
    assert error.value.code is hilo.Errc.usage
    assert isinstance(error.value, TypeError), "as for every function of Python"


def test_errors_of_the_users_own_code_stay_what_they_are() -> None:
    def confused(state: int, action: int, rng: Any) -> tuple[int, float, bool]:
        raise TypeError("step(): incompatible function arguments. Mine")

    with pytest.raises(TypeError, match="Mine"):
        hilo.train(hilo.wrap(confused, **WALK), agent="mcrl", **QUICK)


def test_moments_equal_nothing_else() -> None:
    assert (hilo.Moments() == 3) is False and (hilo.Moments() != None) is True  # noqa: E711
    assert (hilo.CoMoments() == hilo.Moments()) is False
    assert hilo.Moments() == hilo.Moments()
