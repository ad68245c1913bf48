"""Two Gymnasium environments of vectors, and a policy from a handful of expensive episodes.

The expensive simulator is changed, or integrates finely; the cheap one has other parameters. All
results are printed, in the order of the list.

    python examples/control_gymnasium.py --seeds 20 CartPole
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

import gymnasium
import numpy as np

import hilo


class Substeps(gymnasium.Wrapper):
    """CartPole in steps of a quarter of the time, four of them for each action."""

    def __init__(self, env: gymnasium.Env, count: int) -> None:
        super().__init__(env)
        env.unwrapped.tau /= count
        self._count = count

    def step(self, action):
        for _ in range(self._count):
            observation, _, terminated, truncated, info = self.env.step(action)
            if terminated or truncated:
                break
        return observation, 1.0, terminated, truncated, info


def cart_pole():
    high = gymnasium.wrappers.TimeLimit(Substeps(gymnasium.make("CartPole-v1").unwrapped, 4), 500)
    low = gymnasium.make("CartPole-v1").unwrapped
    low.masspole *= 3
    low.length *= 0.7
    low.total_mass = low.masspole + low.masscart
    low.polemass_length = low.masspole * low.length
    return high, low, {"max_steps": 500}


def pendulum():
    high, low = gymnasium.make("Pendulum-v1"), gymnasium.make("Pendulum-v1")
    high.unwrapped.m = 1.4
    return high, low, {}


def mountain_car():
    high, low = gymnasium.make("MountainCarContinuous-v0"), gymnasium.make("MountainCarContinuous-v0")
    low.unwrapped.power *= 1.3
    return high, low, {"max_steps": 400}


def half_cheetah():
    high, low = gymnasium.make("HalfCheetah-v5"), gymnasium.make("HalfCheetah-v5")
    low.unwrapped.model.opt.gravity[:] *= 1.5
    # The position that observations leave out is 0 there, so that rewards are those of the speed.
    return high, low, {"max_steps": 300, "agent": {"kind": "corrected", "layers": 0, "search.low_steps": 20_000}}


CASES = {"CartPole": cart_pole, "Pendulum": pendulum, "MountainCar": mountain_car, "HalfCheetah": half_cheetah}


def value(env, policy, max_steps: int | None, episodes: int = 20) -> float:
    """The mean return over starts that are the same for all."""
    total = 0.0
    for seed in range(episodes):
        observation, _ = env.reset(seed=1000 + seed)
        for _ in range(max_steps or 200):
            observation, reward, terminated, truncated, _ = env.step(policy(observation))
            total += float(reward)
            if terminated or truncated:
                break
    return total / episodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="+", choices=[*CASES])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, nargs="+", default=[1, 3])
    given = parser.parse_args()
    for case in given.cases:
        by_agent: dict[str, list[float]] = {}
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            row = {}
            for agent, episodes in [("low-only", 1), *(("corrected", n) for n in given.episodes)]:
                high, low, options = CASES[case]()
                chosen = options.pop("agent", {"kind": "corrected"})
                if agent == "low-only":
                    chosen = {"kind": "low-only"}
                with tempfile.TemporaryDirectory() as folder:
                    learnt = hilo.learn(
                        high, low, episodes=episodes, reserve=0, agent=chosen, gamma=1.0, seed=seed, sync=False,
                        journal=Path(folder) / "a.journal", progress=False, **options,
                    )  # fmt: skip
                name = agent if agent == "low-only" else f"{agent} {episodes}"
                row[name] = round(value(high, learnt.policy, options.get("max_steps")), 1)
                by_agent.setdefault(name, []).append(row[name])
            print(case, seed, json.dumps(row), flush=True)
        for name, values in by_agent.items():
            quartiles = np.quantile(values, [0.25, 0.5, 0.75])
            print(
                f"{case}: {name}: median {statistics.median(values):.1f}, quartiles {quartiles[0]:.1f} to "
                f"{quartiles[2]:.1f}, all {min(values):.1f} to {max(values):.1f}, {len(values)} seeds"
            )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
