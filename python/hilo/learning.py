"""Learning one policy for one budget of expensive episodes."""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import _hilo
from ._checks import MAX_SEED, number_in, path_of, text_of, whole_in
from ._errors import Error
from ._hilo import Errc, Summary
from .boxes import ActionForm
from .gymnasium_source import Codec
from .identity import for_learning
from .network import NetworkPolicy
from .programs import Program
from .progress import LearnProgress
from .sides import limit_of, plain_name
from .spec_data import agents_of, table_of, thrifty
from .study import Policy
from .training import _subject_of
from .things import resolve
from .wrapping import check_options


@dataclass(frozen=True)
class Learnt:
    """What hilo.learn returns: a policy, what it is worth, and what it cost."""

    policy: Policy | NetworkPolicy
    """The learnt policy: call it with an observation."""
    value: Summary
    """Mean return of the final test with a 95 % interval; ``value.n`` is 0 if there was none."""
    caution: str
    """Why the interval may hold the true value less often than it says; "" without a reason."""
    believed: tuple[float, float] | None
    """The value that the agent itself expects, and its standard error (infinite if unknown)."""
    bill: dict[str, Any]
    """What was spent: episodes, steps, cost, time, and the cheap simulator's share."""
    agent: str
    """The label of the agent."""
    choice: str
    """Why hilo chose this agent; "" if you named it."""
    journal: Path
    """The file with all that was paid for."""
    stopped_by: str
    """The limit of the budget that was reached."""
    controlled: tuple[float, float, float, float] | None = None
    """The value with the cheap simulator as a control variate: value, interval, and how many plain test
    episodes would be as sharp. None if it did not help."""
    pilot: dict[str, Any] | None = None
    """What the pilot said about the cheap simulator, if there was one: advice and reason."""
    notes: list[str] = field(default_factory=list)
    _json: str = field(default="", repr=False)
    _page: str = field(default="", repr=False)

    def save(self, file: str | os.PathLike[str], force: bool = False) -> Path:
        """Writes the policy as JSON, for programs in any language (docs/learn.md). A file that hilo
        did not write is replaced only if `force`."""
        target = path_of(file, "file")
        if not isinstance(force, bool):
            raise Error(f"force is {force!r}, but must be True or False", Errc.usage)
        _hilo.write_learnt(target, self._json, '"hilo_policy"', force)
        return target

    def report(self, out: str | os.PathLike[str], force: bool = False) -> Path:
        """Writes the page of the run, which works offline: what the money bought, in one picture, the
        bill, and the policy. A file that hilo did not write is replaced only if `force`."""
        target = path_of(out, "out")
        if not isinstance(force, bool):
            raise Error(f"force is {force!r}, but must be True or False", Errc.usage)
        _hilo.write_learnt(target, self._page, "· hilo</title>", force)
        return target

    def __str__(self) -> str:
        v, b = self.value, self.bill
        if v.n == 0:
            worth = "not tested"
        elif v.n == 1:
            worth = f"{v.mean:.4g}, the return of one test episode: no interval"
        else:
            worth = (
                f"{v.mean:.4g} [{v.low:.4g}, {v.high:.4g}], mean return of {v.n} test episodes, "
                "95 % interval"
            )
        lines = [f"learnt by {self.agent}" + (f" (chosen: {self.choice})" if self.choice else "")]
        lines.append(f"  value    {worth}")
        if self.controlled is not None:
            mean, low, high, episodes = self.controlled
            lines.append(
                f"           with the cheap simulator's help {mean:.4g} [{low:.4g}, {high:.4g}], as sharp as "
                f"{episodes:.0f} test episodes"
            )
        if self.caution:
            lines.append(f"           caution: {self.caution}")
        if self.believed is not None:
            error = f" (standard error {self.believed[1]:.2g})" if math.isfinite(self.believed[1]) else ""
            lines.append(f"           the agent itself expects {self.believed[0]:.4g}{error}")
        if self.pilot is not None:
            p = self.pilot
            how = "without" if p["advice"] == "drop it" else "with"
            lines.append(
                f"  pilot    {p['episodes']} episodes about the cheap simulator: {p['advice']}, because "
                f"{p['reason']}; learnt {how} it"
            )
        pilot = f" ({b['pilot']} of them in the pilot)" if b["pilot"] else ""
        reused = f"; learnt from {b['reused']} more that other runs paid for" if b["reused"] else ""
        failed = f"; {b['failed']} attempts failed, {b['skipped']} episodes were skipped" if b["failed"] else ""
        lines.append(
            f"  bill     {b['episodes']} expensive episodes: {b['training']} to learn from{pilot}, "
            f"{b['testing']} to test{reused}{failed}"
        )
        unit = " s, measured" if b["cost_unit"] == "seconds" else ""
        lines.append(
            f"           {b['steps']} steps, {b['low_steps']} cheap steps, cost {b['cost']:.6g}{unit} "
            f"(cheap simulator: {100 * b['low_share']:.1f} %), {b['seconds']:.1f} s"
        )
        lines.append(f"  journal  {self.journal}")
        return "\n".join(lines)


def learn(
    high: Any,
    low: Any = None,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    cost: float | None = None,
    wall: float | None = None,
    reserve: int | None = None,
    map: Any = None,
    agent: str | Mapping[str, Any] = "auto",
    costs: Mapping[str, float] | None = None,
    retries: int = 2,
    on_failure: str = "skip",
    pilot: int = 0,
    reuse: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    max_steps: int | None = None,
    truncation: str = "drop",
    lag: int = 1,
    seed: int = 0,
    name: str | None = None,
    journal: str | os.PathLike[str] | None = None,
    sync: bool = True,
    progress: bool | Callable[..., object] | None = None,
    **options: Any,
) -> Learnt:
    """Learns one policy for an expensive simulator from one budget, and says what it is worth.

    ``high`` and ``low`` are as for hilo.train. The budget is any of ``episodes``, ``steps``,
    ``cost`` and ``wall`` (seconds); the first that is reached ends the run. ``reserve`` episodes of
    it test the final policy and are not learnt from: by default a tenth. ``costs`` declares what
    the simulators cost: ``high_episode``, ``high_step`` and ``low_step``; otherwise costs are
    measured in seconds.

    Nothing that was paid for is lost: every expensive episode is in the file ``journal`` (default
    NAME.journal) before it is learnt from. The same call goes on where it was, after Ctrl-C, a
    crash or a power failure, with the same results. A larger budget continues a run that is done.

    An episode that fails is tried again ``retries`` times with the same seed, and then skipped, or
    the run stops (``on_failure="stop"``). The first ``pilot`` episodes, which are learnt from, judge
    whether the cheap simulator helps the agent "mfmcrl"; if not, it is dropped. ``reuse`` names
    journals of other runs: their episodes of the same expensive simulator are learnt from first,
    by agents that learn from single steps. With ``lag`` above 1 an episode acts on what was learnt so
    many episodes before it, so that so many can run at the same time (hilo.program has ``workers``).
    ``agent`` is a kind or a table of a spec; "auto" takes
    what hilo's contests recommend, and the result says why. ``progress`` is as for hilo.train, but
    a function is called with (episodes, failed attempts, share of the budget, cost, last return).
    """
    if map is not None and low is None:
        raise Error("map is given, but no low fidelity that it could lead to", Errc.usage)
    check_options(options, list(inspect.signature(learn).parameters))
    for what, share in (("gamma", gamma), ("epsilon", epsilon)):
        number_in(share, what, -math.inf, math.inf)
    seed = whole_in(seed, "seed", 0, MAX_SEED)
    if not isinstance(sync, bool):
        raise Error(f"sync is {sync!r}, but must be True or False", Errc.usage)
    if costs is not None and not isinstance(costs, Mapping):
        raise Error(f'costs is {costs!r}, but must be a dict, such as {{"high_step": 1.0}}', Errc.usage)
    lag = whole_in(lag, "lag", 1, 1000)
    pilot = whole_in(pilot, "pilot", 0, 10_000_000)
    if reuse is None or isinstance(reuse, (str, os.PathLike)):
        reuse = [] if reuse is None else [reuse]
    if isinstance(reuse, bytes) or not isinstance(reuse, Sequence):
        raise Error(f"reuse is {reuse!r}, but must be a journal, or a list of journals", Errc.usage)
    others = [path_of(other, "reuse") for other in reuse]
    name = None if name is None else text_of(name, "name")
    file = None if journal is None else path_of(journal, "journal")
    name = name or plain_name(high)
    high, low = resolve(high), None if low is None else resolve(low)
    if isinstance(high, Program):  # every attempt is in the journal, so that none is hidden in it
        own = dict(high.options)
        retries = own.pop("retries", retries)
        on_failure = own.pop("on_failure", on_failure)
        declared = {key: own.pop(f"cost_{key[5:]}") for key in ("high_episode", "high_step") if f"cost_{key[5:]}" in own}
        if isinstance(low, Program) and "cost_step" in low.options:
            declared["low_step"] = low.options["cost_step"]
        costs = {**declared, **(costs or {})} or None
        high = replace(high, options={**own, "retries": 0})
    with for_learning():
        subject = _subject_of(high, low, map, options)
    chosen = agents_of(agent)
    if len(chosen) != 1:
        raise Error(f"there are {len(chosen)} agents, but a learn run has one", Errc.usage)
    if subject.low_is_slow and chosen != [{"kind": "auto"}]:
        chosen = [thrifty(table) for table in chosen]
    limits = {"episodes": episodes, "steps": steps, "cost": cost, "wall": wall, "reserve": reserve}
    budget = {key: value for key, value in limits.items() if value is not None}
    training = {
        "gamma": gamma,
        "epsilon": epsilon,
        "max_steps": limit_of(max_steps, subject.limit),
        "truncation": truncation,
    }
    if lag != 1:
        training["lag"] = lag
    where = "hilo.learn"
    try:
        spec = _hilo.make_learn_spec(
            name,
            seed,
            table_of(subject.problem, f"{where}: problem"),
            table_of(training, f"{where}: train"),
            [] if chosen == [{"kind": "auto"}] else [table_of(chosen[0], f"{where}: agent")],
            table_of(budget, f"{where}: budget")[0],
            table_of(dict(costs or {}), f"{where}: cost")[0],
            table_of({"retries": retries, "on_failure": on_failure}, f"{where}: failures")[0],
            {"episodes": pilot} if pilot > 0 else {},
            subject.low_is_slow,
            where,
            subject.own,
        )
    finally:
        subject.own = None  # an exception must not keep it alive
    file = file or Path(f"{name}.journal")
    learner = _hilo.Learner(spec, file, sync, reuse=others)
    line = LearnProgress(name, progress)
    try:
        learner.spend(line)
    finally:
        line.close()
    for note in learner.notes:
        warnings.warn(note, stacklevel=2)
    outcome = learner.outcome
    judged_by = "final test" if outcome["returns"].n else "nothing"
    policy: Policy | NetworkPolicy
    if subject.vectors:
        form = subject.form if isinstance(subject.form, ActionForm) else None
        policy = NetworkPolicy(learner.policy_json(), learner.agent, seed, judged_by, form)
    else:
        codec = subject.form if isinstance(subject.form, Codec) else None
        policy = Policy(learner.q.values, learner.agent, seed, codec, judged_by)
    return Learnt(
        policy=policy,
        value=outcome["returns"],
        caution=outcome["caution"],
        believed=outcome["believed"],
        bill=learner.bill,
        agent=learner.agent,
        controlled=outcome["controlled"],
        pilot=learner.pilot,
        choice=spec.choice,
        journal=file,
        stopped_by=outcome["stopped_by"],
        notes=learner.notes,
        _json=learner.policy_json(),
        _page=learner.page(),
    )
