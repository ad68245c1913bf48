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
        if not self.is_shown or (now - self._last < 0.2 and done < total):
            return
        self._last = now
        elapsed = now - self._start
        left = f", {_minutes(elapsed / share - elapsed)} left" if 0 < share < 1 else ""
        wrong = f", {failed} failed" if failed else ""
        self.write(f"{self._name}: {done} of {total} {self._what}{wrong}{left}")

    @property
    def is_shown(self) -> bool:
        """Whether anybody would see a line."""
        return self._notebook or self._terminal

    def write(self, line: str) -> None:
        """Shows the line in place of the one before."""
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
            self.write(line)
        elif self._terminal:
            sys.stderr.write(f"{line}\n")

    def close(self) -> None:
        """Removes the line from the terminal."""
        if self._shown and not self._notebook:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class LearnProgress:
    """Called with (episodes, failed attempts, share of the budget, cost, last return); shows one
    line with a spark line of the last returns. ``show`` is as for Progress.
    """

    _BARS = "▁▂▃▄▅▆▇█"

    def __init__(self, name: str, show: bool | Callable[..., object] | None) -> None:
        self._line = Progress(name, "", None if callable(show) else show)
        self._function = show if callable(show) else None
        self._name = name
        self._start = time.monotonic()
        self._last = float("-inf")
        self._first: float | None = None
        self._returns: list[float] = []

    def __call__(self, episodes: int, failed: int, share: float, cost: float, last: float | None) -> None:
        if self._function is not None:
            self._function(episodes, failed, share, cost, last)
            return
        if last is not None:
            self._returns = [*self._returns[-19:], last]
        now = time.monotonic()
        if not self._line.is_shown or now - self._last < 0.2 or not self._returns:
            return
        self._last = now
        if self._first is None:
            self._first = share
        done = share - self._first
        left = f", {_minutes((now - self._start) * (1 - share) / done)} left" if done > 0 else ""
        low, high = min(self._returns), max(self._returns)
        bars = "".join(
            self._BARS[min(7, int(8 * (x - low) / (high - low))) if high > low else 3]
            for x in self._returns
        )
        wrong = f", {failed} failed" if failed else ""
        mean = sum(self._returns) / len(self._returns)
        self._line.write(
            f"{self._name}: {episodes} episodes{wrong}, cost {cost:.4g}, {100 * share:.0f} % of the "
            f"budget{left}, return {mean:.4g} {bars}"
        )

    def close(self) -> None:
        """Removes the line from the terminal."""
        self._line.close()


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
