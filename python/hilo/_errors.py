"""The one exception of the engine."""

from __future__ import annotations

import atexit

from . import _hilo
from ._hilo import Errc


class Error(RuntimeError):
    """What hilo raises: the message says what was given, what is allowed and where.

    ``code`` tells the cases apart, as the exit codes of the program do.
    """

    code: Errc

    def __init__(self, message: str, code: Errc = Errc.usage) -> None:
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class ArgumentError(Error, TypeError):
    """An argument of a kind that a function does not take. As everywhere in Python, a TypeError."""


_hilo.set_error_type(Error)
atexit.register(_hilo.end)
