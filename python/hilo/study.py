"""The results of a training: numbers with intervals, policies and figures."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _hilo
from ._checks import MAX_SEED, path_of, text_of, whole_in
from ._errors import Error
from ._hilo import Errc, QTable, Results, Summary
from .boxes import ActionForm
from .gymnasium_source import Codec
from .judging import judge
from .network import NetworkPolicy
from .store import Store


def _kind_of(metric: str) -> dict[str, str]:
    return _hilo.metric_kinds().get(metric, {"axis": metric, "optimum": ""})


class Policy:
    """A learnt policy. Call it with an observation of the high fidelity to get the action.

    ``q`` has the values of all state-action pairs and ``table`` the same values as a QTable.
    ``agent`` and ``seed`` say which run has learnt it, ``judged_by`` is the metric by which it was
    chosen among others, and ``hold`` is the number of steps for which an action is held. pickle
    saves it.

    >>> action = policy(observation)                   # doctest: +SKIP
    """

    def __init__(
        self,
        q: NDArray[np.float64],
        agent: str,
        seed: int,
        codec: Codec | None,
        judged_by: str | None = None,
    ) -> None:
        self.q = q
        self.judged_by = judged_by
        self.hold = getattr(codec, "hold", 1)
        self.agent = agent
        self.seed = seed
        self._codec = codec
        self.table = QTable.from_values(np.ascontiguousarray(q))

    def state_of(self, observation: Any) -> int:
        """The state that an observation belongs to."""
        if self._codec:
            return self._codec.state_of(observation)
        return whole_in(observation, "the observation", 0, len(self.q) - 1)

    def greedy_actions(self, observation: Any) -> list[int]:
        """The numbers of the best actions: more than one if there are ties."""
        return self.table.greedy_actions(self.state_of(observation))

    def __call__(self, observation: Any) -> Any:
        best = self.greedy_actions(observation)[0]
        return self._codec.action_of(best) if self._codec else best

    def __repr__(self) -> str:
        return f"Policy({self.agent!r}, seed={self.seed}, states={len(self.q)})"

    def __getstate__(self) -> dict[str, Any]:
        return {
            "q": np.array(self.q),
            "agent": self.agent,
            "seed": self.seed,
            "codec": self._codec,
            "judged_by": self.judged_by,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _save(figure: Any, file: Path, store: Path) -> None:
    """Writes a picture under the name that matplotlib would give it."""
    kinds = figure.canvas.get_supported_filetypes()
    if file.suffix == "" and file.name not in ("", ".", ".."):
        file = file.with_name(file.name + ".png")
    if file.suffix[1:].lower() not in kinds:
        raise Error(f"file is {str(file)!r}, but must end in one of {', '.join(kinds)}", Errc.usage)
    if file.is_dir():
        raise Error(f"file is {str(file)!r}, but that is a folder", Errc.usage)
    if not file.parent.is_dir():
        raise Error(f"{file}: there is no folder {file.parent}", Errc.io)
    _hilo.require_writable(file, [store])
    try:
        figure.savefig(file, dpi=120)
    except OSError as e:
        raise Error(f"{file}: cannot be written: {e.strerror}", Errc.io) from e


class Study:
    """The runs of one experiment. Printing it shows the final level of every agent.

    ``hilo.Study("runs.db", "name")`` opens an experiment of a store. ``results`` has all values by
    agent, metric, episode and seed.
    """

    def __init__(
        self,
        store: str | os.PathLike[str],
        experiment: str,
        codec: Codec | ActionForm | None = None,
        folder: Path | None = None,
    ) -> None:
        self.store = Store(store)
        self.experiment = experiment
        self.results: Results = self.store.results(experiment)
        self._codec = codec
        self._kept = folder is None
        if folder is not None:  # a temporary store, which is removed with the study
            weakref.finalize(self, shutil.rmtree, folder, True)

    @property
    def agents(self) -> list[str]:
        """Labels of the agents."""
        return self.results.agents

    @property
    def metric(self) -> str:
        """The metric of the agents' levels, here as in ``findings`` and in the report: the exact
        value of the policy where it is known, else the result of tests, else that of training. It
        is the discounted return for docking and for your own problems, and the paper's mean reward
        per step for the other problems of hilo."""
        return self.results.level_metric

    def final(self, agent: str, metric: str | None = None) -> Summary:
        """The level of an agent at the end, over seeds, with its 95 % interval."""
        return self.results.final(agent, self.metric if metric is None else metric)

    def difference(self, agent: str, baseline: str | None = None) -> Summary:
        """An agent minus the baseline at the end, paired by seed."""
        if baseline is None:
            baseline = self.results.baseline
        return self.results.paired_difference(agent, baseline, self.metric)

    def columns(self) -> dict[str, Any]:
        """All results in long format; ``pandas.DataFrame(study.columns())`` makes a table of it."""
        return self.store.columns(self.experiment)

    def findings(self) -> list[str]:
        """The findings of the experiment as sentences, the most important first."""
        return self.store.findings(self.experiment)

    def policy(self, agent: str | None = None, seed: int | None = None) -> Policy | NetworkPolicy:
        """The learnt policy of an agent and seed, or the best one if either is not given.

        Policies are judged by their exact values or by tests, as the printed table shows them.
        Without these they are judged by the value that the agent itself expects from the start
        states, less two standard errors. If that is missing too, the returns of the second half of
        training decide, with a warning. The policy's ``judged_by`` says which metric was used.
        """
        agents = self.agents if agent is None else [text_of(agent, "agent")]
        seed = None if seed is None else whole_in(seed, "seed", 0, MAX_SEED)
        judged_by, levels = judge(self.results, self.columns, agents, seed)
        best, own = max(levels, key=lambda run: levels[run])
        stored = self.store.policy(self.experiment, best, own)
        if stored.kind == "network":
            form = self._codec if isinstance(self._codec, ActionForm) else None
            return NetworkPolicy(stored.text, best, own, judged_by, form)
        codec = self._codec if isinstance(self._codec, Codec) else None
        return Policy(stored.q, best, own, codec, judged_by)

    def report(self, out: str | os.PathLike[str], force: bool = False) -> Path:
        """Writes a report: FILE.html, a page that works offline, or FILE.md. A file that hilo did
        not write is replaced only if `force`."""
        return self.store.report(out, force)

    def plot(self, file: str | os.PathLike[str] | None = None, metric: str | None = None) -> Any:
        """Learning curves, mean and 95 % interval over seeds. Returns the matplotlib figure."""
        try:
            from matplotlib.figure import Figure
        except ImportError as e:
            raise Error("plot needs matplotlib (pip install matplotlib)", Errc.usage) from e
        metric = self.metric if metric is None else text_of(metric, "metric")
        if file is not None:
            file = path_of(file, "file")
        if metric not in self.results.metrics:
            names = ", ".join(self.results.metrics) or "none: no run is finished"
            raise Error(f"{self.experiment} has no metric {metric!r}, but {names}", Errc.usage)

        class Picture(Figure):
            """A figure that notebooks show without a backend."""

            def _repr_png_(self) -> bytes:
                out = io.BytesIO()
                self.savefig(out, dpi=100)
                return out.getvalue()

        figure = Picture(figsize=(7, 4.2), layout="constrained")
        axes = figure.add_subplot()
        shown: dict[Any, str] = {}  # name of each line
        styles = self.results.styles
        for agent in self.agents:
            colour, dashed = styles[agent]
            episodes = self.results.episodes(agent, metric)
            points = [self.results.at(agent, metric, episode) for episode in episodes]
            style = "--" if dashed else "-"
            (line,) = axes.plot(episodes, [p.mean for p in points], style, color=colour, label=agent)
            shown[line] = agent
            axes.fill_between(
                episodes,
                [p.low for p in points],
                [p.high for p in points],
                color=colour,
                alpha=0.2,
                linewidth=0,
            )
        kind = _kind_of(metric)
        if kind["optimum"] and self.results.has_metric(kind["optimum"]):
            known = [a for a in self.agents if self.results.final_values(a, kind["optimum"])]
            optimum = self.results.final(known[0], kind["optimum"]).mean
            line = axes.axhline(optimum, color="#777777", linestyle=":", label="optimum, exact")
            shown[line] = "optimum, exact"
        seeds = sorted({len(self.results.seeds(agent)) for agent in self.agents})
        count = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
        axes.set_title(f"{self.experiment}: mean and 95 % interval over {count} seeds")
        axes.set_xlabel("expensive episodes")
        axes.set_ylabel(kind["axis"])
        axes.grid(color="#dddddd", linewidth=0.5)
        # Names are set afterwards: the legend leaves out names that begin with an underscore.
        legend = axes.legend(list(shown), [str(i) for i in range(len(shown))])
        for text, name in zip(legend.get_texts(), shown.values()):
            text.set_text(name)
        # A dollar sign in a name must not start a formula.
        for text in (*legend.get_texts(), axes.title, axes.yaxis.label):
            text.set_parse_math(False)
        if file is not None:
            _save(figure, Path(file), self.store.file)
        return figure

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        rows = []
        for agent in self.agents:
            if not self.results.final_values(agent, self.metric):
                rows.append((agent, "0", "no finished run", "", ""))
                continue
            level = self.final(agent)
            paired = self._paired(agent)
            cut = self.results.final_values(agent, "truncated_high")
            mean_cut = f"{sum(cut.values()) / level.n:.4g}" if cut else "0"
            rows.append((agent, str(level.n), _with_interval(level), paired, mean_cut))
        return rows

    def _paired(self, agent: str) -> str:
        """Its difference to the baseline; empty if fewer than two seeds have both."""
        seeds = [self.results.final_values(a, self.metric) for a in (agent, self.results.baseline)]
        if agent == self.results.baseline or len(seeds[0].keys() & seeds[1].keys()) < 2:
            return ""
        d = self.difference(agent)
        return f"{d.mean:+.4g} [{d.low:+.4g}, {d.high:+.4g}]"

    _HEADER = ("agent", "seeds", "level [95 %]", "minus {}, paired", "cut episodes")

    def _title(self) -> str:
        level = _kind_of(self.metric)["axis"]
        note = ", which do not rank the greedy policies" if self.metric.startswith("train_") else ""
        return f"{self.experiment}: {level}, at the end{note}"

    def _header(self) -> list[str]:
        return [text.format(self.results.baseline) for text in self._HEADER]

    def __str__(self) -> str:
        rows = [self._header(), *map(list, self._rows())]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self._title(), *lines])

    def __repr__(self) -> str:
        store = repr(str(self.store.file)) if self._kept else None
        return f"Study({self.experiment!r}, agents={self.agents}, store={store})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._kept:
            return Study, (self.store.file, self.experiment, self._codec)
        return _study_of, (self.store.file.read_bytes(), self.experiment, self._codec)

    def _repr_html_(self) -> str:
        import html

        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self._header())
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        return f"<p>{html.escape(self._title())}</p><table><tr>{head}</tr>{body}</table>"


def _study_of(store: bytes, experiment: str, codec: Codec | ActionForm | None) -> Study:
    """A study whose store was pickled along with it."""
    folder = Path(tempfile.mkdtemp(prefix="hilo-"))
    (folder / "hilo.db").write_bytes(store)
    return Study(folder / "hilo.db", experiment, codec, folder)


def _with_interval(summary: Summary) -> str:
    if summary.n < 2:
        return f"{summary.mean:.4g}"
    return f"{summary.mean:.4g} [{summary.low:.4g}, {summary.high:.4g}]"
