"""The exception types of the package."""

from __future__ import annotations

import atexit

from . import _hilo
from ._hilo import Errc


class Error(RuntimeError):
    """The exception that hilo raises. The message says what was given, what is allowed and where.

    ``code`` is the kind of error. Its values are the exit codes of the program.
    """

    code: Errc

    def __init__(self, message: str, code: Errc = Errc.usage) -> None:
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class ArgumentError(Error, TypeError):
    """An argument that a function does not accept. It is also a TypeError, as usual in Python."""


_hilo.set_error_type(Error)
atexit.register(_hilo.end)
