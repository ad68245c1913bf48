"""What the tests share: small simulators, and the program to compare with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest


def walk(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
    """A walk on 0 ... 9 that ends at 9; one step in five goes the wrong way."""
    way = 1 if (action == 1) == (rng.random() < 0.8) else -1
    following = min(9, max(0, state + way))
    return following, float(following == 9), following == 9


def sure_walk(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
    """The same without the wrong steps."""
    following = min(9, max(0, state + (1 if action == 1 else -1)))
    return following, float(following == 9), following == 9


class WalkEnv(gymnasium.Env[Any, Any]):
    """The walk as an environment that keeps its own state."""

    def __init__(self, slip: float = 0.2, first: int = 0, settable: bool = True) -> None:
        self.observation_space = gymnasium.spaces.Discrete(10, start=first)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.slip, self.first, self.settable = slip, first, settable
        self.at = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = 0
        if self.settable and options and "state" in options:
            self.at = int(options["state"]) - self.first
        return self.observe(), {}

    def observe(self) -> Any:
        return self.at + self.first

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        way = 1 if (action == 1) == (self.np_random.random() >= self.slip) else -1
        self.at = min(9, max(0, self.at + way))
        return self.observe(), float(self.at == 9), self.at == 9, False, {}


@pytest.fixture
def program() -> Path:
    """The program hilo, to compare with."""
    found = os.environ.get("HILO_PROGRAM")
    if not found:
        pytest.skip("HILO_PROGRAM does not name the program hilo")
    return Path(found)


@pytest.fixture
def root() -> Path:
    """The top of the sources."""
    return Path(__file__).resolve().parents[2]
