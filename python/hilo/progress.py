"""Shows progress and the time left on a terminal or in a notebook, or passes it to a function."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

ProgressFunction = Callable[[int, int, int, float], object]


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    active = shell.get_ipython()
    return active is not None and type(active).__name__ == "ZMQInteractiveShell"


class Progress:
    """Called with (done, failed, total, share of the work); shows one line, rewritten in place.

    ``show`` is None to show it only on terminals and in notebooks, True or False to show it always
    or never, or a function that is called instead.
    """

    def __init__(self, name: str, what: str, show: bool | ProgressFunction | None) -> None:
        self._name, self._what = name, what
        self._function = show if callable(show) else None
        self._notebook = show is not False and _in_notebook()
        self._terminal = show is True or (show is None and sys.stderr.isatty())
        self._start = time.monotonic()
        self._last = float("-inf")
        self._shown = False
        self._display: Any = None

    def __call__(self, done: int, failed: int, total: int, share: float) -> None:
        if self._function is not None:
            self._function(done, failed, total, share)
            return
        now = time.monotonic()
        if not (self._notebook or self._terminal) or (now - self._last < 0.2 and done < total):
            return
        self._last = now
        elapsed = now - self._start
        left = f", {_minutes(elapsed / share - elapsed)} left" if 0 < share < 1 else ""
        wrong = f", {failed} failed" if failed else ""
        self._write(f"{self._name}: {done} of {total} {self._what}{wrong}{left}")

    def _write(self, line: str) -> None:
        self._shown = True
        if self._notebook:
            shell = importlib.import_module("IPython.display")
            if self._display is None:
                self._display = shell.display(shell.Pretty(line), display_id=True)
            else:
                self._display.update(shell.Pretty(line))
        else:
            sys.stderr.write(f"\r\033[K{line}")
            sys.stderr.flush()

    def note(self, line: str) -> None:
        """Shows a line that stays, if progress is shown."""
        if self._function is not None:
            return
        if self._notebook:
            self._write(line)
        elif self._terminal:
            sys.stderr.write(f"{line}\n")

    def close(self) -> None:
        """Removes the line from the terminal."""
        if self._shown and not self._notebook:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
