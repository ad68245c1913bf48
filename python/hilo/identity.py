"""Identifies a simulator written in Python in a store by a hash of all that can be seen of it."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
import inspect
import pickle
import secrets
import sys
import types
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._errors import Error
from ._hilo import Errc

_LIBRARIES = ("builtins", "typing", "abc", "gymnasium", "numpy", "hilo", "scipy", "torch")
# State of a generator that every episode seeds again.
_SEEDED = ("_np_random", "_np_random_seed")


# A run that learns goes on with the object that it has used so far. The object has changed by that,
# so that what it was when it was first seen counts.
_LEARNING: contextvars.ContextVar[bool] = contextvars.ContextVar("learning", default=False)
_FIRST_SEEN: dict[int, tuple[weakref.ref[Any], bytes]] = {}


@contextlib.contextmanager
def for_learning() -> Iterator[None]:
    """Within it, objects keep the hash of when they were first seen, and what cannot be hashed is an
    error: a run could never be continued if its simulator had another identity every time."""
    token = _LEARNING.set(True)
    try:
        yield
    finally:
        _LEARNING.reset(token)


def fingerprint(thing: Any) -> str:
    """16 hex digits that change with the code, the options and the state of an object.

    The hash covers functions with their closures and defaults, objects with their attributes, and
    classes with the code of their bases. If a part cannot be hashed, such as an open connection,
    the result is random: training again is better than returning another simulator's results.
    """
    digest = hashlib.sha256()
    if _LEARNING.get() and isinstance(thing, tuple):
        for part in thing:
            digest.update(_first_seen(part))
    else:
        _add(thing, digest.update, {})
    return digest.hexdigest()[:16]


def _first_seen(thing: Any) -> bytes:
    known = _FIRST_SEEN.get(id(thing))
    if known is not None and known[0]() is thing:
        return known[1]
    digest = hashlib.sha256()
    _add(thing, digest.update, {})
    with contextlib.suppress(TypeError):  # numbers, lists and such cannot be remembered
        _FIRST_SEEN[id(thing)] = (weakref.ref(thing), digest.digest())
    return digest.digest()


def _add(thing: Any, update: Any, seen: dict[int, int]) -> None:
    def tell(*words: object) -> None:
        for word in words:
            update(repr(word).encode() + b"\0")

    if thing is None or isinstance(thing, (bool, int, float, complex, str, bytes, np.generic)):
        tell(type(thing).__name__, thing)
        return
    if id(thing) in seen:  # a cycle, or an object that was seen before
        tell("again", seen[id(thing)])
        return
    seen[id(thing)] = len(seen)
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        tell("array", thing.dtype.str, thing.shape)
        update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, (list, tuple)):
        tell(type(thing).__name__, len(thing))
        for item in thing:
            _add(item, update, seen)
    elif isinstance(thing, Mapping):
        tell("mapping", len(thing))
        for key in sorted(thing, key=repr):
            _add(key, update, seen)
            _add(thing[key], update, seen)
    elif isinstance(thing, (set, frozenset)):
        tell("set", sorted(map(repr, thing)))
    elif isinstance(thing, types.ModuleType):
        tell("module", thing.__name__, getattr(thing, "__version__", ""))
    elif isinstance(thing, type):
        _add_class(thing, update, seen)
    elif isinstance(thing, functools.partial):
        tell("partial")
        _add([thing.func, thing.args, thing.keywords], update, seen)
    elif isinstance(thing, types.MethodType):
        _add(thing.__self__, update, seen)
        _add(thing.__func__, update, seen)
    elif isinstance(thing, types.FunctionType):
        tell("function", thing.__qualname__, _code(thing))
        cells = [_content(cell) for cell in thing.__closure__ or ()]
        _add([thing.__defaults__, thing.__kwdefaults__, cells], update, seen)
    elif isinstance(thing, (types.BuiltinFunctionType, np.ufunc)):
        tell("built-in", getattr(thing, "__module__", ""), thing.__name__)
    elif isinstance(thing, (np.random.Generator, np.random.RandomState)):
        tell("generator", type(thing).__name__)
        _add(pickle.dumps(thing), update, seen)
    else:
        _add_object(thing, update, seen)


def _add_object(thing: Any, update: Any, seen: dict[int, int]) -> None:
    _add(type(thing), update, seen)
    held = dict(getattr(thing, "__dict__", {}))
    for base in type(thing).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(thing, name):
                held[name] = getattr(thing, name)
    # Parts of hilo's own environments that follow from others, which can be seen.
    derived = getattr(type(thing), "_hilo_derived", ())
    if type(thing).__module__.startswith("gymnasium.spaces"):
        _add(repr(thing), update, seen)
    elif held or hasattr(thing, "__dict__"):
        _add({key: value for key, value in held.items() if key not in (*_SEEDED, *derived)}, update, seen)
    else:
        try:
            update(pickle.dumps(thing))
        except Exception as e:  # whatever the reason, it cannot be hashed
            if _LEARNING.get():
                raise Error(
                    f"a simulator holds {thing!r:.80}, by which it cannot be recognised when the run "
                    'is continued; give it a name: hilo.wrap(..., identity="my simulator, version 1")',
                    Errc.usage,
                ) from e
            update(secrets.token_bytes(16))


def _add_class(cls: type, update: Any, seen: dict[int, int]) -> None:
    """Adds a class member by member: its source is not always available, as in a notebook."""
    for base in cls.__mro__:
        _add(f"class {base.__module__}.{base.__qualname__}", update, seen)
        top = base.__module__.split(".")[0]
        if top in _LIBRARIES:  # identified by their version
            _add(getattr(sys.modules.get(top), "__version__", ""), update, seen)
            continue
        for name in sorted(vars(base)):
            member = vars(base)[name]
            if isinstance(member, (staticmethod, classmethod)):
                member = member.__func__
            elif isinstance(member, property):
                member = [member.fget, member.fset]
            if not (name.startswith("__") and not callable(member)):
                _add([name, member], update, seen)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the cell is still empty
        return None


def _code(thing: Any) -> str:
    """The source of a function, or its compiled code if there is no source."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        if code is not None:
            return repr(
                (
                    code.co_code,
                    code.co_names,
                    [c for c in code.co_consts if not isinstance(c, types.CodeType)],
                )
            )
        return repr(thing)
