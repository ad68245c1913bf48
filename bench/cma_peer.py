"""Compares the evaluations that hilo's CMA-ES needs with those of PyPI's cma.

    python3 -m venv /tmp/venv-cma
    /tmp/venv-cma/bin/pip install cma==4.5.0
    /tmp/venv-cma/bin/python bench/cma_peer.py [--bin build/release/bin]

Both sides get the same starts, uniform in [-2, 2], the same population and first step size, and
make the active update. Prints a table; intervals of ratios of medians are 95 %, by bootstrap.
Exits with 1 if a ratio is off by more than 15 %.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cma
import numpy as np

Array = np.ndarray
MARGIN = 0.15
REPETITIONS = 10_000


def sphere(x: Array) -> float:
    return float(x @ x)


def ellipsoid(x: Array) -> float:
    return float(1e6 ** (np.arange(len(x)) / (len(x) - 1)) @ (x * x))


def rosenbrock(x: Array) -> float:
    return float(np.sum(100 * (x[:-1] ** 2 - x[1:]) ** 2 + (x[:-1] - 1) ** 2))


FUNCTIONS = {f.__name__: f for f in (sphere, ellipsoid, rosenbrock)}


def evaluations_of(search: dict[str, Any], seed: int) -> int:
    """Of the peer, in whole generations; 0: the target was not reached. None of its stopping
    criteria but the target and the number of evaluations counts, as in hilo_cma_run."""
    warnings.simplefilter("ignore")
    options = {"popsize": search["population"], "CMA_active": True, "seed": seed, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(search["start"], search["sigma"], options)
    f, best, done = FUNCTIONS[search["function"]], np.inf, 0
    while done < search["most"]:
        candidates = strategy.ask()
        values = [f(x) for x in candidates]
        strategy.tell(candidates, values)
        done += len(values)
        best = min(best, *values)
        if best <= search["target"]:
            return done
    return 0


def median_of(evaluations: Array) -> float:
    """Searches that fail count as longer than all others."""
    return float(np.median(np.where(evaluations == 0, np.inf, evaluations)))


def interval_of(own: Array, peer: Array) -> tuple[float, float]:
    """The two sides share starts but no random numbers: starts are drawn anew, in pairs."""
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(REPETITIONS):
        drawn = rng.integers(0, len(own), len(own))
        ratios.append(median_of(own[drawn]) / median_of(peer[drawn]))
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    given = parser.parse_args()
    out = subprocess.run([given.bin / "hilo_cma_run"], capture_output=True, text=True, check=True)
    searches = [json.loads(line) for line in out.stdout.splitlines()]
    with ProcessPoolExecutor(2) as pool:
        seeds = range(1, len(searches) + 1)  # to the peer, a seed of 0 is the clock
        for search, evaluations in zip(
            searches, pool.map(evaluations_of, searches, seeds, chunksize=10), strict=True
        ):
            search["peer"] = evaluations
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for search in searches:
        groups.setdefault((search["function"], len(search["start"])), []).append(search)
    print(
        f"| function | dimension | population | hilo, median | cma {cma.__version__}, median "
        "| ratio [95 %] | not reached |\n" + "|---" * 7 + "|"
    )
    failed = False
    for (name, dimension), group in groups.items():
        own = np.array([search["evaluations"] for search in group])
        peer = np.array([search["peer"] for search in group])
        ratio = median_of(own) / median_of(peer)
        low, high = interval_of(own, peer)
        print(
            f"| {name} | {dimension} | {group[0]['population']} | {median_of(own):.0f} "
            f"| {median_of(peer):.0f} | {ratio:.3f} [{low:.3f}, {high:.3f}] "
            f"| {np.sum(own == 0)} and {np.sum(peer == 0)} of {len(group)} |"
        )
        failed = failed or not abs(ratio - 1) <= MARGIN
    print(
        "a ratio is off by more than 15 %"
        if failed
        else "hilo and cma agree within 15 % everywhere"
    )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
