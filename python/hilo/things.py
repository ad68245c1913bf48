"""What was given as a simulator: finds the environment, the program or the function behind it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ._errors import Error
from ._hilo import Errc
from .wrapping import Wrapped


def is_environment(thing: Any) -> bool:
    """Whether it is a Gymnasium environment. A class of environments makes one and is none."""
    return not isinstance(thing, type) and all(
        hasattr(thing, name) for name in ("observation_space", "action_space", "step")
    )


def inner_of(env: Any) -> Any:
    """The environment inside all wrappers."""
    return getattr(env, "unwrapped", env)


def is_control(env: Any) -> bool:
    """Whether it is one of hilo's own control problems. Their module needs Gymnasium."""
    return any(kind.__module__ == "hilo.control_environments" for kind in type(inner_of(env)).__mro__)


def make_environment(name: str) -> Any:
    try:
        import gymnasium
    except ImportError as e:
        raise Error(
            f"'{name}' names a Gymnasium environment, but gymnasium is not installed "
            "(pip install gymnasium)",
            Errc.usage,
        ) from e
    try:
        return gymnasium.make(name, disable_env_checker=True)
    except (gymnasium.error.UnregisteredEnv, gymnasium.error.Error) as e:
        raise Error(f"{name!r} is no Gymnasium environment that can be made: {e}", Errc.usage) from e


def required_arguments(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 3
    return sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in parameters
    )


def resolve(thing: Any) -> Any:
    """The simulator behind an id, or behind a function without arguments that makes it; else the
    thing itself. Options of hilo.wrap stay around it, and inner ones win."""
    if isinstance(thing, Wrapped):
        inner = resolve(thing.thing)
        if isinstance(inner, Wrapped):
            return Wrapped(inner.thing, {**thing.options, **inner.options})
        return thing if inner is thing.thing else Wrapped(inner, thing.options)
    if isinstance(thing, str):
        return make_environment(thing)
    if callable(thing) and not is_environment(thing) and required_arguments(thing) == 0:
        return resolve(thing())
    return thing


def no_simulator(thing: Any) -> Error:
    return Error(
        f"{thing!r:.200} is no simulator: give a Gymnasium environment or its id, hilo.program(...), "
        "hilo.VectorSimulator(...), a problem or simulator of hilo, a function step(state, action, rng) wrapped by "
        "hilo.wrap, or a function without arguments that makes one of these",
        Errc.usage,
    )
