"""Results in a SQLite file."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from . import _hilo
from ._checks import flag, path_of
from ._errors import Error
from ._hilo import Errc, Results, StoredPolicy, StoreFile


class Store:
    """A result store (docs/store.md), open for reading, or for writing with ``writable=True``.

    >>> with hilo.Store("hilo.db") as store:          # doctest: +SKIP
    ...     store.results("figure-2a").final("MCRL", "test_reward")
    """

    def __init__(self, file: str | os.PathLike[str], *, writable: bool = False) -> None:
        self._file = StoreFile(path_of(file, "file"), flag(writable, "writable", Errc.usage))

    def close(self) -> None:
        """Closes the store, so that others can write to it. Closing it twice is allowed."""
        self._file.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def file(self) -> Path:
        """The path of the store."""
        return Path(self._file.file)

    def experiments(self) -> list[str]:
        """Names of all experiments."""
        return self._file.experiments()

    def agents(self, experiment: str) -> list[str]:
        """Labels of the agents of an experiment."""
        return self._file.agents(experiment)

    def status(self, experiment: str) -> list[tuple[str, int, int, int]]:
        """For each agent, the numbers of its runs: (agent, planned, finished, failed)."""
        return self._file.status(experiment)

    def columns(self, experiment: str = "") -> dict[str, Any]:
        """All finished results in long format: experiment, agent, seed, episode, metric, value.

        ``pandas.DataFrame(store.columns())`` makes a table of it.
        """
        return self._file.columns(experiment)

    def results(self, experiment: str) -> Results:
        """The results of one experiment, with means and intervals over seeds."""
        return Results(self._file.get(), experiment)

    def failed_runs(self, experiment: str) -> list[tuple[str, int, str]]:
        """(agent, seed, error) of the runs that failed."""
        return self._file.failed_runs(experiment)

    def policy(self, experiment: str, agent: str, seed: int) -> StoredPolicy:
        """The policy that a run has learnt."""
        return self._file.policy(experiment, agent, seed)

    def spec(self, experiment: str) -> str:
        """The TOML of an experiment as it was last run."""
        return self._file.spec(experiment)

    def diagnosis(self, experiment: str) -> str:
        """The result of the last pilot study as JSON, or ""."""
        return self._file.diagnosis(experiment)

    def findings(self, experiment: str) -> list[str]:
        """The findings of an experiment as sentences, the most important first."""
        return _hilo.findings(self._file.get(), experiment)

    def report(self, out: str | os.PathLike[str], force: bool = False) -> Path:
        """Writes a report of the whole store: FILE.html, a page that works offline, or FILE.md. A
        file that hilo did not write is replaced only if `force`."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        place = path_of(out, "out")
        _hilo.write_report(self._file.get(), self.file.name, place, now, self.file, bool(force))
        return place

    def merge(self, files: Sequence[str | os.PathLike[str]]) -> None:
        """Adds all runs and experiments of other stores."""
        if isinstance(files, (str, os.PathLike)) or not isinstance(files, Iterable):
            raise Error(f"files is {files!r}, but must be a list of paths", Errc.usage)
        self._file.merge([path_of(file, "a file of files") for file in files])

    def __repr__(self) -> str:
        return f"Store({str(self.file)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The copy can only read, because a store has at most one writer.
        return (Store, (self.file,))
