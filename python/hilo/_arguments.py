"""Messages that say which argument of a call does not fit and what it must be.

The engine asks for one after a call has failed. What a function takes is read from its signature.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _hilo
from ._errors import ArgumentError
from ._hilo import Errc

_LONGEST = 80  # characters of a value that are shown


@dataclass
class _Parameter:
    name: str
    kind: str  # its type, as the signature has it
    is_needed: bool


def explain(function: Any, given: list[Any], named: dict[str, Any]) -> ArgumentError:
    """The error for a call with arguments that fit none of the function's signatures."""
    text = function.__nb_signature__[0][0].splitlines()[-1]
    parameters, takes_any_name, is_method = _parameters_of(text)
    name = str(function.__name__)
    if is_method:
        if name == "__init__" or name == "__setstate__":
            name = type(given[0]).__name__
        given = given[1:]
    title = {"__getitem__": "[]", "__setitem__": "[] ="}.get(name, name)
    problem = _problem(parameters, takes_any_name, given, named)
    return ArgumentError(f"{title}: {problem}", Errc.usage)


def _problem(
    parameters: list[_Parameter], takes_any_name: bool, given: list[Any], named: dict[str, Any]
) -> str:
    names = [p.name for p in parameters]
    if len(given) > len(parameters):
        takes = f"at most {len(names)} arguments: {', '.join(names)}" if names else "no arguments"
        return f"{len(given)} arguments are given, but it takes {takes}"
    for key in named:
        if key in names[: len(given)]:
            return f"{key} is given twice"
        if key not in names and not takes_any_name:
            near = difflib.get_close_matches(key, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            return f"there is no argument {key!r}{hint} (there are: {', '.join(names) or 'none'})"
    values = dict(zip(names, given)) | {k: v for k, v in named.items() if k in names}
    missing = [p.name for p in parameters if p.is_needed and p.name not in values]
    if missing:
        return f"{' and '.join(missing)} must be given"
    wrong = [
        f"{p.name} is {_shown(values[p.name])}, but must be {_words(p.kind)}"
        for p in parameters
        if p.name in values and not _fits(p.kind, values[p.name])
    ]
    if not wrong:  # all types fit, but a number may be too large for its parameter
        wrong = [
            f"{p.name} is {_shown(values[p.name])}, which is too large"
            for p in parameters
            if p.name in values and p.kind == "int" and int(values[p.name]) >= 1 << 32
        ]
    if not wrong:
        allowed = "; ".join(f"{p.name} must be {_words(p.kind)}" for p in parameters)
        return f"the arguments do not fit: {allowed}"
    return "; ".join(wrong)


def _parameters_of(signature: str) -> tuple[list[_Parameter], bool, bool]:
    """The parameters, whether any other name is taken as well, and whether it is a method."""
    inside = signature[signature.index("(") + 1 :]
    out: list[_Parameter] = []
    takes_any_name = is_method = False
    for part in _split(inside):
        if part == "self":
            is_method = True
        elif part.startswith("**"):
            takes_any_name = True
        elif part not in ("/", "*"):
            name, _, rest = part.partition(":")
            kind, default, _ = rest.partition(" = ")
            name = {"arg": "the place", "arg0": "the place", "arg1": "the value"}.get(name, name)
            out.append(_Parameter(name, kind.strip(), not default))
    return out, takes_any_name, is_method


def _split(text: str) -> list[str]:
    """The parts between commas, up to the closing bracket. Inner brackets are not split."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        if depth < 0 or (c == "," and depth == 0):
            parts.append(text[start:i].strip())
            start = i + 1
        if depth < 0:
            break
    return [part for part in parts if part]


def _alternatives(kind: str) -> list[str]:
    """The types of a union: "int | None" has two. Brackets are not split."""
    out, depth, start = [], 0, 0
    for i, c in enumerate(kind):
        depth += (c in "([") - (c in ")]")
        if c == "|" and depth == 0:
            out.append(kind[start:i].strip())
            start = i + 1
    return [*out, kind[start:].strip()]


def _array(kind: str) -> tuple[str, int | None] | None:
    """The dtype and the number of dimensions, if the type is an array."""
    if "ndarray[" in kind:
        dtype = re.search(r"dtype=(\w+)", kind)
        shape = re.search(r"shape=\(([^)]*)\)", kind)
        return (dtype[1] if dtype else "float64"), (shape[1].count("*") if shape else None)
    if "NDArray[" in kind:
        found = re.search(r"numpy\.(\w+)\]", kind)
        dtype_name = found[1] if found else "float64"
        return dtype_name, (2 if dtype_name == "float64" else 1)
    return None


def _items(kind: str) -> list[str] | None:
    """The types of the entries of a sequence or a tuple."""
    for start in ("collections.abc.Sequence[", "tuple[", "list["):
        if kind.startswith(start):
            return _split(kind[len(start) : -1] + ")")
    return None


def _fits(kind: str, value: Any) -> bool:
    return any(_fits_one(one, value) for one in _alternatives(kind))


def _fits_one(kind: str, value: Any) -> bool:
    if kind in ("object", "typing.Any"):
        return True
    if kind == "None":
        return value is None
    if kind == "int":
        return _is_whole(value) and 0 <= int(value) < 1 << 64
    if kind == "float":
        return _is_number(value)
    if kind == "bool":
        return isinstance(value, (bool, np.bool_))
    if kind == "str":
        return isinstance(value, str) and _is_text(value)
    if kind == "bytes":
        return isinstance(value, bytes)
    if kind == "os.PathLike":
        return isinstance(value, os.PathLike)
    if kind.startswith("collections.abc.Callable"):
        return callable(value)
    if (array := _array(kind)) is not None:
        return _fits_array(array, value)
    if (items := _items(kind)) is not None:
        if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, np.ndarray)):
            return False
        if kind.startswith("tuple["):
            return len(value) == len(items) and all(map(_fits, items, value))
        return all(_fits(items[0], one) for one in value)
    known = getattr(_hilo, kind.rpartition(".")[2], None)
    return not isinstance(known, type) or isinstance(value, known)


def _fits_array(array: tuple[str, int | None], value: Any) -> bool:
    dtype, dimensions = array
    if dtype == "uint32":  # lists of whole numbers are accepted as well
        try:
            made = np.asarray(value)
        except ValueError:
            return False
        whole = made.dtype.kind in "iu" or made.size == 0
        inside = made.size == 0 or (whole and made.min() >= 0 and made.max() < 1 << 32)
        return made.ndim == dimensions and whole and bool(inside)
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.dtype(dtype)
        and (dimensions is None or value.ndim == dimensions)
        and value.flags.c_contiguous
    )


def _is_whole(value: Any) -> bool:
    try:
        value.__index__()
    except (AttributeError, TypeError):
        return False
    return True


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _words(kind: str) -> str:
    return " or ".join(dict.fromkeys(_words_of_one(one) for one in _alternatives(kind)))


def _words_of_one(kind: str) -> str:
    plain = {
        "int": "a whole number from 0 on",
        "float": "a number",
        "bool": "True or False",
        "str": "a text",
        "bytes": "bytes",
        "os.PathLike": "a path",
        "None": "None",
    }
    if kind in plain:
        return plain[kind]
    if kind.startswith("collections.abc.Callable"):
        return "a function"
    if (array := _array(kind)) is not None:
        dtype, dimensions = array
        if dtype == "uint32":
            return "an array of whole numbers from 0 on, of one dimension"
        shape = {None: "", 1: " of one dimension", 2: " of two dimensions"}[dimensions]
        return f"a NumPy array of {dtype}{shape}, in C order"
    if (items := _items(kind)) is not None:
        if kind.startswith("tuple["):
            return f"a tuple of {len(items)}: {', '.join(map(_words, items))}"
        return f"a list, each entry {_words(items[0])}"
    return f"a hilo.{kind.rpartition('.')[2]}"


def _shown(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, int) and abs(value) >= 10**_LONGEST:
        return f"a number of more than {_LONGEST} digits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # from the user's own class; the type is shown below
        text = "something"
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + " ..."
    if isinstance(value, np.ndarray):
        return f"{text} of dtype {value.dtype} and shape {value.shape}"
    return f"{text} of type {type(value).__name__}"
