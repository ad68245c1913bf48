"""Ranks the learnt policies by the best evidence that there is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import Error
from ._hilo import Errc, Results

# What is known of the greedy policy of each run, by agent and seed.
Levels = dict[tuple[str, int], float]

# The value that an agent itself expects of its policy. Recorded only if nothing else judges a run.
_OWN = "own_value"
# Standard errors that are subtracted from an estimate, so that an uncertain one is not preferred.
_ERRORS_BELOW = 2.0


def judge(
    results: Results,
    columns: Callable[[], dict[str, Any]],
    agents: list[str],
    seed: int | None,
) -> tuple[str, Levels]:
    """Returns the metric that policies are judged by, and the level of each.

    The metric is exact values or tests, as the printed table shows them. Without these it is the
    value that the agent itself expects from the start states, less two of its standard errors. If
    that is missing too, it is the returns of the second half of training, with a warning.
    ``columns`` returns all results in long format.
    """
    metric = results.level_metric
    levels = _final(results, metric, agents, seed)
    if not levels:
        raise Error(
            f"{results.experiment}: no run of {', '.join(agents)} is finished"
            + ("" if seed is None else f" with the seed {seed}"),
            Errc.usage,
        )
    if not metric.startswith("train_"):
        return metric, levels
    values = _final(results, _OWN, agents, seed)
    errors = _final(results, f"{_OWN}_error", agents, seed)
    if values.keys() == errors.keys() == levels.keys():
        return _OWN, {run: values[run] - _ERRORS_BELOW * errors[run] for run in values}
    if len(levels) > 1:
        warnings.warn(
            f"{results.experiment}: the policy is chosen among {len(levels)} by the returns of the "
            "second half of training, which are noisy and explore: there are no exact values, no "
            "tests (test_episodes=), and not all agents can say how sure they are of their own "
            "estimates. It may not be the best one",
            stacklevel=3,
        )
    return metric, _late_means(columns(), metric, levels)


def _late_means(columns: dict[str, Any], metric: str, runs: Levels) -> Levels:
    """The mean of a metric over the second half of each run; its last record is mostly noise."""
    out = {}
    is_metric = np.asarray(columns["metric"]) == metric
    agents, seeds = np.asarray(columns["agent"]), np.asarray(columns["seed"])
    for agent, seed in runs:
        rows = is_metric & (agents == agent) & (seeds == seed)
        episodes = columns["episode"][rows]
        out[agent, seed] = float(columns["value"][rows][2 * episodes > episodes.max()].mean())
    return out


def _final(results: Results, metric: str, agents: list[str], seed: int | None) -> Levels:
    return {
        (agent, own): value
        for agent in agents
        for own, value in results.final_values(agent, metric).items()
        if seed is None or own == seed
    }
