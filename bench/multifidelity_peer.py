"""Compares hilo's mlblue_allocation and mfmc_plan with MXMCPy 1.0 on MXMCPy's own test models.

    python3 -m venv /tmp/peer-venv
    /tmp/peer-venv/bin/pip install MXMCPy==1.0
    echo $PWD/build/venv/lib/python3.11/site-packages > \
        /tmp/peer-venv/lib/python3.11/site-packages/hilo.pth
    OMP_NUM_THREADS=1 /tmp/peer-venv/bin/python bench/multifidelity_peer.py [--limit 60] [--all]

Both sides get the same exact covariances, costs and budget, which is in units of the expensive
cost. Prints one table, then what 2000 repetitions say about the variance that mlblue predicts.
Exits with 1 if mlblue is more than 2 % above the best of MXMCPy, or mfmc above its mfmc.
"""

from __future__ import annotations

import argparse
import signal
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from typing import NamedTuple

import hilo
import numpy as np
import torch

# MXMCPy 1.0 calls torch.solve, which newer versions of torch no longer have. Without this line all
# of its approximate control variates fail.
torch.solve = lambda b, a: (torch.linalg.solve(a, b), None)
from mxmc import Optimizer  # noqa: E402

Array = np.ndarray
MARGIN = 1.02
BUDGETS = [50, 100, 1000, 10000]


class Family(NamedTuple):
    name: str
    costs: list[float]
    inputs: int  # how many numbers a sample needs, uniform between low and high
    low: float
    high: float
    models: list[Callable[[Array], Array]]


def ishigami(a: float, b: float, power: int) -> Callable[[Array], Array]:
    return lambda z: np.sin(z[0]) * (1 + b * z[2] ** power) + a * np.sin(z[1]) ** 2


FAMILIES = [
    Family("monomials", [10.0**-i for i in range(5)], 1, 0, 1,
           [lambda x, p=5 - i: x[0] ** p for i in range(5)]),
    # The paper's three models.
    Family("Ishigami, paper", [1, 0.05, 0.001], 3, -np.pi, np.pi,
           [ishigami(5, 0.1, 4), ishigami(4.75, 0.1, 4), ishigami(3, 0.9, 2)]),
    # Those of examples/ishigami/run_ishigami.py in MXMCPy.
    Family("Ishigami, example", [1, 0.1, 0.01], 3, -np.pi, np.pi,
           [ishigami(5, 0.1, 4), ishigami(4.75, 0.1, 4), ishigami(3, 0.9, 4)]),
]  # fmt: skip


def moments(family: Family) -> tuple[Array, Array]:
    """Means and covariances by Gauss-Legendre quadrature, exact to rounding."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    nodes = family.low + (family.high - family.low) * (nodes + 1) / 2
    grid = np.array([g.ravel() for g in np.meshgrid(*[nodes] * family.inputs)])
    w = np.array([g.ravel() for g in np.meshgrid(*[weights / 2] * family.inputs)]).prod(axis=0)
    values = np.array([model(grid) for model in family.models])
    centred = values - (values @ w)[:, None]
    return values @ w, np.ascontiguousarray((centred * w) @ centred.T)


def run_peer(c: Array, costs: list[float], budget: float, limit: int, slow: bool
             ) -> tuple[dict[str, float], list[str]]:  # fmt: skip
    """The variance of each algorithm, with "+" for model selection, and what was left out."""

    def late(*_: object) -> None:
        raise TimeoutError(f"takes more than {limit} s")

    signal.signal(signal.SIGALRM, late)
    found, notes = {}, []
    for label in [name + end for name in Optimizer.get_algorithm_names() for end in ("", "+")]:
        # With five models there are over a hundred ways to chain them, and 15 subsets.
        if len(costs) > 3 and not slow and label.endswith(("mr", "mr+", "sr+")):
            notes.append(f"{label} skipped, see --all")
            continue
        signal.alarm(limit)
        try:
            result = Optimizer(np.array(costs), c).optimize(label.strip("+"), budget, "+" in label)
            variance, cost = float(result.variance), float(np.sum(result.cost))
            # mlmc leaves out the variance of levels without samples, which is no estimate.
            empty = np.any(result.allocation.compressed_allocation[:, 0] < 1)
            if empty or not 0 < variance < np.inf or cost > budget * (1 + 1e-9):
                raise ValueError(f"no valid plan ({variance:.3g} for {cost:.6g})")
            found[label] = variance
        except Exception as error:
            notes.append(f"{label}: {error or type(error).__name__}")
        finally:
            signal.alarm(0)
    return found, notes


def information(c: Array, members: list[int]) -> Array:
    out = np.zeros_like(c)
    out[np.ix_(members, members)] = np.linalg.inv(c[np.ix_(members, members)])
    return out


def least_variance(c: Array, costs: list[float], budget: float) -> float:
    """A bound no linear unbiased plan can beat (the equivalence theorem), near mlblue's optimum."""
    size = len(costs)
    groups = [list(g) for k in range(size) for g in combinations(range(size), k + 1)]
    per_cost = [information(c, g) / sum(costs[i] for i in g) for g in groups]
    psi = sum(1e-9 * budget * p for p in per_cost)
    for members, count in hilo.mlblue_allocation(c, costs, budget, False)[0]:
        psi = psi + count * information(c, members)
    x = np.linalg.solve(psi, np.eye(size)[0])
    return float(x[0] ** 2 / (budget * max(x @ p @ x for p in per_cost)))


def realised(family: Family, budget: float, repetitions: int = 2000) -> tuple[float, float]:
    """Realised by predicted variance of mlblue's estimate, and its bias in standard errors."""
    mean, c = moments(family)
    groups, variance, _ = hilo.mlblue_allocation(c, family.costs, budget)
    used = sorted({i for members, _ in groups for i in members})
    psi = sum(n * information(c, members) for members, n in groups)
    x = np.zeros(len(c))
    x[used] = np.linalg.solve(psi[np.ix_(used, used)], np.eye(len(used))[0])
    rng = np.random.default_rng(1)
    estimates = np.zeros(repetitions)
    for members, n in groups:
        weights = n * (information(c, members) @ x)
        for r in range(repetitions):
            z = rng.uniform(family.low, family.high, (family.inputs, int(n)))
            estimates[r] += sum(weights[i] * family.models[i](z).mean() for i in members)
    bias = (estimates.mean() - mean[0]) / np.sqrt(variance / repetitions)
    return float(estimates.var(ddof=1) / variance), float(bias)


def row(index: int, budget: float, limit: int, slow: bool) -> tuple[str, list[str], bool]:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    torch.set_num_threads(1)
    family = FAMILIES[index]
    c = moments(family)[1]
    peer, notes = run_peer(c, family.costs, budget, limit, slow)
    bound = least_variance(c, family.costs, budget)
    # Rounding errors can take a variance below what is possible; such a plan does not count.
    wrong = [name for name, variance in peer.items() if variance < bound * (1 - 1e-6)]
    notes += [f"{name} is below the least variance ({peer.pop(name):.4g})" for name in wrong]
    best = min(peer, key=lambda name: peer[name])
    peer_mfmc = min(peer.get("mfmc", np.inf), peer.get("mfmc+", np.inf))
    mlblue = hilo.mlblue_allocation(c, family.costs, budget)[1]
    mfmc = hilo.mfmc_plan(c, family.costs, budget)[3]
    text = (f"| {family.name} | {budget:g} | {peer[best]:.4e} ({best}) | {peer_mfmc:.4e} "
            f"| {mlblue:.4e} | {mfmc:.4e} | {mlblue / peer[best]:.4f} | {mfmc / peer_mfmc:.4f} "
            f"| {mfmc / peer[best]:.4f} | {mlblue / bound:.5f} |")  # fmt: skip
    return text, notes, mlblue > MARGIN * peer[best] or mfmc > MARGIN * peer_mfmc


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, default=60, help="seconds for an algorithm")
    parser.add_argument("--all", action="store_true", help="the slow algorithms of MXMCPy as well")
    given = parser.parse_args()
    tasks = [(i, budget) for i in range(len(FAMILIES)) for budget in BUDGETS]
    print("| models | budget | MXMCPy best | MXMCPy mfmc | hilo mlblue | hilo mfmc | mlblue / best "
          "| mfmc / mfmc | mfmc / best | mlblue / least |\n" + "|---" * 10 + "|")  # fmt: skip
    failed, notes = False, dict[str, list[str]]()
    with ProcessPoolExecutor(2) as pool:
        done = [pool.submit(row, *task, given.limit, given.all) for task in tasks]
        for (i, budget), future in zip(tasks, done, strict=True):
            text, said, worse = future.result()
            print(text, flush=True)
            failed = failed or worse
            for note in said:
                notes.setdefault(f"{FAMILIES[i].name}: {note}", []).append(f"{budget:g}")
    print()
    for family in FAMILIES:
        ratio, bias = realised(family, BUDGETS[0])
        print(f"{family.name}, budget {BUDGETS[0]}: realised / predicted variance {ratio:.3f} "
              f"(2000 repetitions, +- 0.032), bias {bias:+.2f} standard errors",
              flush=True)  # fmt: skip
    for note, budgets in notes.items():
        print(f"- {note} (budget {', '.join(budgets)})")
    print("hilo is worse somewhere" if failed else "hilo is nowhere worse by more than 2 %")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
