"""What a cheap simulator is worth when a policy is evaluated: Gymnasium's classic control.

python examples/evaluate_gains.py                     the whole study, about ten minutes
python examples/evaluate_gains.py --out gains.md      writes the table to a file as well
python examples/evaluate_gains.py --quick             a test of the script, with numbers too small to use

The expensive simulator is an environment as it comes, the cheap one a copy with another mass, length,
power or integration step. Changes and policies were fixed before any cheap episode was run, and all
are shown.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import hilo
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Policy = Callable[[Any], Any]
FREE_SEEDS = 1_000_000  # Free cheap episodes have seeds from here on, paired ones from 0.


class Sizes(NamedTuple):  # How much is simulated for each case.
    replicates: int = 200
    pairs: int = 20  # expensive episodes of a replicate
    free: int = 200  # free cheap episodes of a replicate
    pool: int = 8000  # free cheap episodes to draw from
    runs: int = 20  # of hilo.evaluate
    resamples: int = 2000  # of the bootstrap


QUICK = Sizes(replicates=6, pairs=20, free=20, pool=40, runs=1, resamples=100)


class Change(NamedTuple):  # What makes the cheap simulator.
    environment: str
    words: str
    values: dict[str, float]  # What is set in the environment.
    max_steps: int | None = None


# The mountain car has no integration step, and its mass is in its power.
CHANGES = [
    Change("Pendulum-v1", "mass x 1.05", {"m": 1.05}),
    Change("Pendulum-v1", "mass x 1.2", {"m": 1.2}),
    Change("Pendulum-v1", "step 0.05 -> 0.1", {"dt": 0.1}, 100),
    Change("CartPole-v1", "pole length x 1.1", {"length": 0.55, "polemass_length": 0.055}),
    Change("CartPole-v1", "pole length x 1.5", {"length": 0.75, "polemass_length": 0.075}),
    Change("CartPole-v1", "step 0.02 -> 0.04", {"tau": 0.04}, 250),
    Change("MountainCarContinuous-v0", "power x 1.05", {"power": 0.0015 * 1.05}),
    Change("MountainCarContinuous-v0", "power x 1.3", {"power": 0.0015 * 1.3}),
    Change("MountainCarContinuous-v0", "power x 2", {"power": 0.0015 * 2}),
]


def make(environment: str, change: Change | None = None) -> Any:
    """The environment as it comes, or changed."""
    limit = change.max_steps if change else None
    env = gymnasium.make(environment, max_episode_steps=limit, disable_env_checker=True)
    for name, value in (change.values if change else {}).items():
        getattr(env.unwrapped, name)  # It raises an exception where there is no such number to change.
        setattr(env.unwrapped, name, value)
    return env


def swing_up(observation: Any) -> list[float]:
    """Pumps energy until the pendulum is near the top, and holds it there."""
    cos, sin, speed = (float(x) for x in observation)
    if cos > 0.9:
        return [min(max(-10.0 * math.atan2(sin, cos) - 2.0 * speed, -2.0), 2.0)]
    missing = 5.0 - (speed * speed / 6.0 + 5.0 * cos)
    return [min(max(2.0 * missing * math.copysign(1.0, speed), -2.0), 2.0)]


def balance(observation: Any) -> int:
    """Pushes against the speed of the pole, until the cart leaves the track or the pole is too low."""
    # With the angle as well, nearly all episodes last for all 500 steps: there is little to estimate.
    return 1 if float(observation[3]) > 0 else 0


def pump(observation: Any) -> list[float]:
    """Full power in the direction of the velocity."""
    return [1.0 if float(observation[1]) >= 0 else -1.0]


POLICIES: dict[str, Policy] = {"Pendulum-v1": swing_up, "CartPole-v1": balance, "MountainCarContinuous-v0": pump}


def returns(env: Any, policy: Policy, seeds: range) -> Array:
    """The return of an episode for each seed."""
    out = np.zeros(len(seeds))
    for place, seed in enumerate(seeds):
        (observation, _), over = env.reset(seed=seed), False
        while not over:
            observation, reward, ended, cut, _ = env.step(policy(observation))
            out[place] += float(reward)
            over = ended or cut
    return out


def controlled(h: Array, l: Array, free: Array) -> float:
    """The formula of src/hilo/estimator/controlled_mean.hpp for one cheap simulator."""
    n, m = len(h), len(free)
    others = ~np.eye(n, dtype=bool)
    cov = np.array([np.cov(h[keep], l[keep]) for keep in others])  # without the j-th pair
    beta = m / (n + m) * np.divide(cov[:, 0, 1], cov[:, 1, 1], out=np.zeros(n), where=cov[:, 1, 1] > 0)
    return float(np.mean(h + beta * (free.mean() - l)))


def ratio(a: Array, b: Array) -> float:
    return float(a.var(ddof=1) / b.var(ddof=1)) if b.var() > 0 else math.nan


def correlation(a: Array, b: Array) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.var() > 0 and b.var() > 0 else math.nan


def with_interval(of: Callable[[Array, Array], float], a: Array, b: Array, resamples: int) -> str:
    """A number with its 95 % interval, from a bootstrap of the rows of both arrays."""
    rng = np.random.default_rng(2)
    drawn = [of(a[rows], b[rows]) for rows in rng.integers(len(a), size=(resamples, len(a)))]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{of(a, b):.3f} [{low:.3f}, {high:.3f}]"


def case(change: Change, h: Array, sizes: Sizes) -> str:
    """A row of the table."""
    policy, cheap = POLICIES[change.environment], make(change.environment, change)
    l = returns(cheap, policy, range(len(h)))
    pool = returns(cheap, policy, range(FREE_SEEDS, FREE_SEEDS + sizes.pool))
    rng = np.random.default_rng(1)
    blocks = np.arange(len(h)).reshape(sizes.replicates, sizes.pairs)
    values = [controlled(h[b], l[b], rng.choice(pool, sizes.free, replace=False)) for b in blocks]
    square, share = correlation(h, l) ** 2, sizes.free / (sizes.pairs + sizes.free)
    helped, worth = [], []
    asked: dict[str, Any] = {"budget": 40, "costs": [1.0, 0.05], "journal": False, "progress": False}
    for seed in range(sizes.runs):
        done = hilo.evaluate(policy, make(change.environment), [cheap], seed=seed, **asked)
        helped.append(done.policies["policy"].helped)
        worth.append(done.policies["policy"].worth_episodes / done.equal_episodes)
    rho = with_interval(correlation, h, l, sizes.resamples)
    measured = with_interval(ratio, np.array(values), h[blocks].mean(axis=1), sizes.resamples)
    cells = [change.environment, change.words, rho, f"{1 - square:.3f}", f"{1 - square * share:.3f}", measured]
    return f"| {' | '.join(cells)} | {sum(helped)} of {sizes.runs} | {np.median(worth):.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small numbers, for a test")
    parser.add_argument("--out", type=Path, help="write the table there")
    options = parser.parse_args()
    sizes, began = QUICK if options.quick else Sizes(), time.monotonic()
    n, m = sizes.pairs, sizes.free
    head = "| environment | the cheap simulator | rho [95 %] | 1 - rho² | 1 - rho² m/(n+m) | variance ratio at "
    head += f"n = {n}, m = {m} [95 %] | hilo.evaluate used it | median worth / equal |"
    lines = [head, "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines), flush=True)
    expensive: dict[str, Array] = {}
    for change in CHANGES:
        name = change.environment
        if name not in expensive:
            expensive[name] = returns(make(name), POLICIES[name], range(sizes.replicates * n))
        lines.append(case(change, expensive[name], sizes))
        print(lines[-1], flush=True)
    print(f"\n{sizes}, {time.monotonic() - began:.0f} s")
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
