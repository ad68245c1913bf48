"""Checks of numbers and names, with messages in the style of the engine."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import Error
from ._hilo import Errc

MAX_SEED = (1 << 63) - 1
MAX_THREADS = 4096


def whole(value: Any, what: str, code: Errc = Errc.simulator) -> int:
    """Checks for a whole number. 1.0, True and "1" are refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise Error(
            f"{what} is {value!r} of type {type(value).__name__}, but must be a whole number", code
        )
    return int(value)


def whole_in(value: Any, what: str, low: int, high: int, code: Errc = Errc.usage) -> int:
    out = whole(value, what, code)
    if not low <= out <= high:
        raise Error(f"{what} is {out}, but must be in [{low}, {high}]", code)
    return out


def number_in(value: Any, what: str, low: float, high: float, code: Errc = Errc.usage) -> float:
    """Checks for a finite number in [low, high]. NaN is refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise Error(
            f"{what} is {value!r} of type {type(value).__name__}, but must be a number", code
        )
    try:
        out = float(value)
    except OverflowError:  # a whole number that is too large for a float
        out = math.inf if value > 0 else -math.inf
    if not (math.isfinite(out) and low <= out <= high):
        allowed = "finite" if math.isinf(low) and math.isinf(high) else f"in [{low:g}, {high:g}]"
        raise Error(f"{what} is {out}, but must be {allowed}", code)
    return out


def text_of(value: Any, what: str, code: Errc = Errc.usage) -> str:
    if not isinstance(value, str):
        raise Error(
            f"{what} is {value!r} of type {type(value).__name__}, but must be a text", code
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Error(f"{what} is {value!r}, which is not valid Unicode", code) from None
    return value


def path_of(value: Any, what: str, code: Errc = Errc.usage) -> Path:
    """Checks for the path of a file or folder. Bytes are refused: the engine does not take them."""
    if not isinstance(value, (str, os.PathLike)) or isinstance(os.fspath(value), bytes):
        raise Error(
            f"{what} is {value!r} of type {type(value).__name__}, but must be a path", code
        )
    try:
        if b"\0" in os.fsencode(value):
            raise ValueError
    except ValueError:  # also raised for text that cannot be encoded
        raise Error(f"{what} is {value!r}, which cannot be the name of a file", code) from None
    return Path(value)


def flag(value: Any, what: str, code: Errc = Errc.simulator) -> bool:
    if not isinstance(value, (bool, np.bool_, int, np.integer)) or int(value) not in (0, 1):
        raise Error(
            f"{what} is {value!r} of type {type(value).__name__}, but must be True or False", code
        )
    return bool(value)


def reward_of(value: Any) -> float:
    """A reward as a float: anything that holds one number. The engine refuses NaN and infinity."""
    if isinstance(value, (int, float, np.integer, np.floating)):
        try:
            return float(value)
        except OverflowError:
            raise Error("the reward is a whole number beyond all others", Errc.simulator) from None
    array = array_of(value, "the reward", Errc.simulator)
    if array.size != 1 or array.dtype.kind not in "iuf":
        raise Error(
            f"the reward is {value!r} of type {type(value).__name__}, but must be one number",
            Errc.simulator,
        )
    return float(array.reshape(-1)[0])


def array_of(values: Any, what: str, code: Errc = Errc.data) -> np.ndarray[Any, Any]:
    """The values as an array of any type. Lists in it must have the same length."""
    try:
        return np.asarray(values)
    except ValueError:
        raise Error(f"{what} is {values!r}, but its rows must have the same length", code) from None


def whole_numbers(values: Any, what: str, size: int, code: Errc = Errc.data) -> np.ndarray[Any, Any]:
    """Checks for whole numbers in [0, size - 1] and returns them as an array for the engine."""
    array = array_of(values, what, code)
    if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise Error(f"{what} is {values!r}, but must be a sequence of whole numbers", code)
    if array.size and (array.min() < 0 or array.max() >= size):
        bad = int(array[(array < 0) | (array >= size)][0])
        raise Error(f"{what} has {bad}, but its numbers must be in [0, {size - 1}]", code)
    return np.ascontiguousarray(array, dtype=np.uint32)


def numbers(values: Any, what: str, code: Errc = Errc.data) -> np.ndarray[Any, Any]:
    """Checks for finite numbers and returns them as an array."""
    array = array_of(values, what, code)
    if array.dtype.kind not in "iuf":
        raise Error(f"{what} is {values!r} of dtype {array.dtype}, but must hold numbers", code)
    out = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(out).all():
        raise Error(f"{what} holds {out[~np.isfinite(out)][0]}, but must hold finite numbers", code)
    return out
