"""Learnt policies that are networks (docs/control.md)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from . import _hilo
from ._errors import Error
from ._hilo import Errc
from .boxes import ActionForm, Extent

# What decides what a network does, and not how it is called.
_DECIDING = ("observations", "actions", "angles", "centre", "scale", "layers")


class NetworkPolicy:
    """A learnt policy that is a network. Call it with an observation to get the action, in the shape and
    the type of the expensive simulator's actions.

    ``agent`` and ``seed`` say which run has learnt it. ``json`` is its text (docs/control.md).

    >>> action = policy(observation)                   # doctest: +SKIP
    """

    def __init__(
        self, text: str, agent: str, seed: int, judged_by: str | None = None, form: ActionForm | None = None
    ) -> None:
        self.json = text
        self.agent = agent
        self.seed = seed
        self.judged_by = judged_by
        self._network = _hilo.Network(text)
        self._form = form

    def __call__(self, observation: Any) -> Any:
        try:
            row = np.asarray(observation, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError, OverflowError):
            raise Error(f"an observation is {observation!r}, but must be numbers", Errc.usage) from None
        if not np.isfinite(row).all():
            raise Error(f"an observation is {observation!r}, but must be finite numbers", Errc.usage)
        action = self._network.act(row.tolist())
        if self._network.discrete:
            return int(action[0])
        return np.asarray(action) if self._form is None else self._form(action)

    def __repr__(self) -> str:
        layers = json.loads(self.json)["layers"]
        count = sum(len(row) + 1 for layer in layers for row in layer["weights"])
        return f"NetworkPolicy({self.agent!r}, seed={self.seed}, weights={count})"

    def __getstate__(self) -> dict[str, Any]:
        return {
            "text": self.json,
            "agent": self.agent,
            "seed": self.seed,
            "judged_by": self.judged_by,
            "form": self._form,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def identity_of(policy: NetworkPolicy) -> str:
    """The same for all networks that do the same, whatever they are called and wherever they are."""
    content = json.loads(policy.json)
    text = json.dumps([content[key] for key in _DECIDING], sort_keys=True)
    return f"network {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def require_fit(policy: NetworkPolicy, what: str, name: str, observations: Extent, actions: Extent) -> None:
    """Raises unless a network is one for these spaces."""
    content = json.loads(policy.json)
    for part, extent in (("observations", observations), ("actions", actions)):
        ours, theirs = _words(_extent_in(content[part])), _words(extent)
        if ours != theirs:
            raise Error(f"{what}: its {part} are {ours}, but those of {name} {theirs}", Errc.usage)


def _extent_in(space: dict[str, Any]) -> Extent:
    if "choices" in space:
        return int(space["choices"])
    return [(0.0, 0.0)] * len(space["low"])


def _words(extent: Extent) -> str:
    return f"{extent} numbered ones" if isinstance(extent, int) else f"vectors of {len(extent)}"
