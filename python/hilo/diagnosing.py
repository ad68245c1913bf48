"""A pilot study that finds out whether the cheap simulator pays, and its verdict."""

from __future__ import annotations

import inspect
import json
import os
from dataclasses import dataclass
from typing import Any

from . import _hilo
from ._checks import MAX_SEED, number_in, path_of, text_of, whole_in
from ._errors import Error
from ._hilo import Errc, Fidelities, Problem, QTable, StoreFile
from .pairing import make_pairing
from .progress import Progress, ProgressFunction
from .sides import limit_of
from .study import Policy
from .wrapping import check_options

_MAX_STEPS = (1 << 24) - 2  # further steps have no random numbers of their own


@dataclass(frozen=True)
class Diagnosis:
    """The result of a pilot study about the cheap simulator. Printing it gives an explanation.

    ``data`` holds all of the result, as ``hilo diagnose --json`` prints it.
    """

    data: dict[str, Any]

    @property
    def verdict(self) -> str:
        """ "use it", "drop it" or "cannot tell yet"."""
        return str(self.data["verdict"])

    @property
    def reason(self) -> str:
        """The reason for the verdict in one sentence."""
        return str(self.data["reason"])

    @property
    def change(self) -> tuple[float, float, float]:
        """The change of the mean squared error against plain Monte Carlo with the same weights, and
        the ends of its 95 % interval. -0.5 means half the error."""
        change = self.data["change_of_squared_error"]
        return float(change["value"]), float(change["low"]), float(change["high"])

    @property
    def correlation(self) -> float:
        """The correlation of the returns of both simulators along the same paths, pooled within
        state-action pairs."""
        return float(self.data["correlation"]["pooled"])

    def __str__(self) -> str:
        text = "\n".join(self.data["text"])
        return text.replace("--cost-high", "cost_high").replace("--cost-low", "cost_low")

    def __repr__(self) -> str:
        return f"Diagnosis({self.verdict!r})"


def diagnose(
    high: Any,
    low: Any = None,
    *,
    map: Any = None,
    episodes: int = 200,
    low_rollouts: int = 10,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    max_steps: int | None = None,
    truncation: str = "drop",
    seed: int = 0,
    policy: Policy | QTable | None = None,
    train_episodes: int = 1000,
    returns: float = 0,
    cost_high: float = 0,
    cost_low: float = 0,
    name: str = "diagnosis",
    store: str | os.PathLike[str] | None = None,
    progress: bool | ProgressFunction | None = None,
    **options: Any,
) -> Diagnosis:
    """Spends a few expensive episodes to find out whether the cheap simulator helps.

    The simulators are given as in hilo.train. The pilot study takes uniform actions, or
    epsilon-greedy actions of ``policy``. The verdict is for a training of ``train_episodes``
    episodes. ``cost_high`` and ``cost_low`` are the costs of one step in each simulator, in any
    unit; without them the measured time counts. ``store`` keeps the diagnosis for the report of the
    experiment ``name``.
    """
    check_options(options, list(inspect.signature(diagnose).parameters))
    if isinstance(high, Problem) and low is None:
        low = high
    if low is None and not isinstance(high, Fidelities):
        raise Error("diagnose needs a cheap simulator to judge: low", Errc.usage)
    for what, count in (("episodes", episodes), ("low_rollouts", low_rollouts)):
        whole_in(count, what, 1, 2**32 - 1)
    whole_in(train_episodes, "train_episodes", 1, MAX_SEED)
    whole_in(seed, "seed", 0, MAX_SEED)
    for what, share in (("gamma", gamma), ("epsilon", epsilon)):
        number_in(share, what, 0, 1)
    for what, amount in (("returns", returns), ("cost_high", cost_high), ("cost_low", cost_low)):
        number_in(amount, what, 0, 1e9 if what == "returns" else 1e300)
    if (cost_high > 0) != (cost_low > 0):
        raise Error("cost_high and cost_low belong together: give both, or none", Errc.usage)
    if policy is not None and not isinstance(policy, (Policy, QTable)):
        raise Error(f"policy is {policy!r}, but must be a Policy or a QTable", Errc.usage)
    for what, given in (("name", name), ("truncation", truncation)):
        text_of(given, what)
    file = None if store is None else path_of(store, "store")
    made = make_pairing(high, low, map, **options)
    line = Progress("pilot", "episodes", progress)
    try:
        found = _hilo.run_diagnosis(
            made.pair,
            policy.table if isinstance(policy, Policy) else policy,
            episodes,
            low_rollouts,
            gamma,
            epsilon,
            whole_in(limit_of(max_steps, made.high.limit), "max_steps", 1, _MAX_STEPS),
            truncation,
            seed,
            train_episodes,
            returns,
            cost_high,
            cost_low,
            name,
            lambda done, total: line(done, 0, total, done / total),
        )
    finally:
        line.close()
    if file is not None:
        opened = StoreFile(file, True)
        opened.keep_diagnosis(name, found)
        opened.close()
    return Diagnosis(json.loads(found))
