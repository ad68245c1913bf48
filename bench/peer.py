"""The paper's Algorithm 1 in plain Python and NumPy: what hilo's training is compared with.

Written the way the pseudocode reads: lists of returns, means and covariances taken of them, a
successor drawn from its row by the generator, one step after the other. Prints low-fidelity steps
per second as JSON.

    python bench/peer.py [--states 200] [--actions 8] [--rollouts 10] [--seconds 10]
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np


class RandomMdp:
    """States 0 to S - 1, the last one terminal; every step ends with probability 0.1."""

    def __init__(self, states: int, actions: int, rng: np.random.Generator) -> None:
        self.states, self.actions = states, actions
        mask = rng.random((states, actions, states)) > rng.random((states, actions, 1))
        weights = rng.random((states, actions, states)) * mask
        weights[:, :, -1] = 0
        weights[weights.sum(axis=2) == 0, 0] = 1
        self.transition = 0.9 * weights / weights.sum(axis=2, keepdims=True)
        self.transition[:, :, -1] += 0.1
        self.reward = rng.random((states, actions))

    def degraded(self, snr_db: float, rng: np.random.Generator) -> "RandomMdp":
        low = object.__new__(RandomMdp)
        low.states, low.actions = self.states, self.actions
        noise = np.sqrt(np.mean(self.transition**2) / 10 ** (snr_db / 10))
        noisy = np.maximum(self.transition + noise * rng.standard_normal(self.transition.shape), 0)
        low.transition = noisy / noisy.sum(axis=2, keepdims=True)
        spread = np.sqrt(np.mean(self.reward**2) / 10 ** (snr_db / 10))
        low.reward = self.reward + spread * rng.standard_normal(self.reward.shape)
        return low

    def step(self, s: int, a: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        successor = int(rng.choice(self.states, p=self.transition[s, a]))
        return successor, float(self.reward[s, a]), successor == self.states - 1


class EpsilonGreedy:
    """pi(a | s) as a table, brought up to date where Q has changed."""

    def __init__(self, states: int, actions: int, epsilon: float) -> None:
        self.epsilon = epsilon
        self.probability = np.full((states, actions), 1 / actions)

    def update(self, q: np.ndarray, s: int) -> None:
        best = q[s] == q[s].max()
        self.probability[s] = self.epsilon / q.shape[1] + (1 - self.epsilon) * best / best.sum()

    def act(self, s: int, rng: np.random.Generator) -> int:
        return int(rng.choice(self.probability.shape[1], p=self.probability[s]))


def roll_out(
    mdp: RandomMdp, s: int, a: int, pi: EpsilonGreedy, gamma: float, rng: np.random.Generator
) -> tuple[float, int]:
    total, discount, steps = 0.0, 1.0, 0
    while True:
        successor, reward, done = mdp.step(s, a, rng)
        total += discount * reward
        discount *= gamma
        steps += 1
        if done:
            return total, steps
        s, a = successor, pi.act(successor, rng)


def train(states: int, actions: int, rollouts: int, seconds: float) -> dict[str, float]:
    gamma, epsilon = 0.99, 0.1
    rng = np.random.default_rng(1)
    high = RandomMdp(states, actions, rng)
    low = high.degraded(-3, rng)
    q = np.zeros((states, actions))
    pi = EpsilonGreedy(states, actions, epsilon)
    returns_high: dict[tuple[int, int], list[float]] = {}
    returns_low: dict[tuple[int, int], list[float]] = {}
    returns_pool: dict[tuple[int, int], list[float]] = {}

    low_steps = episodes = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        # A high-fidelity episode, and the same path with low-fidelity rewards.
        path: list[tuple[int, int, float, float]] = []
        s, done = int(rng.integers(10)), False
        while not done:
            a = pi.act(s, rng)
            successor, reward, done = high.step(s, a, rng)
            path.append((s, a, reward, float(low.reward[s, a])))
            s = successor

        # m more low-fidelity returns for every pair of the path.
        for pair in dict.fromkeys((s, a) for s, a, _, _ in path):
            for _ in range(rollouts):
                value, steps = roll_out(low, *pair, pi, gamma, rng)
                returns_pool.setdefault(pair, []).append(value)
                low_steps += steps

        # Backwards: first visits get their returns and a corrected mean.
        first = {}
        for t, (s, a, _, _) in enumerate(path):
            first.setdefault((s, a), t)
        g_high = g_low = 0.0
        for t in range(len(path) - 1, -1, -1):
            s, a, reward_high, reward_low = path[t]
            g_high = gamma * g_high + reward_high
            g_low = gamma * g_low + reward_low
            if first[s, a] != t:
                continue
            pair = (s, a)
            returns_high.setdefault(pair, []).append(g_high)
            returns_low.setdefault(pair, []).append(g_low)
            returns_pool.setdefault(pair, []).append(g_low)
            highs, lows = returns_high[pair], returns_low[pair]
            value = float(np.mean(highs))
            if len(highs) > 1:
                covariance = np.cov(highs, lows)
                if covariance[1, 1] > 0:
                    alpha = covariance[0, 1] / covariance[1, 1]
                    value += alpha * (np.mean(returns_pool[pair]) - np.mean(lows))
            q[s, a] = value
            pi.update(q, s)
        episodes += 1
    elapsed = time.perf_counter() - start
    return {"low_steps_per_second": low_steps / elapsed, "episodes": episodes, "seconds": elapsed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--actions", type=int, default=8)
    parser.add_argument("--rollouts", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    result = train(options.states, options.actions, options.rollouts, options.seconds)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
