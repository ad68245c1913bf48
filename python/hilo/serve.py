"""python -m hilo.serve MODULE:NAME: a Gymnasium environment as a program that speaks protocol 1.

NAME is a function of the module that makes the environment, or, for the module gymnasium, the id of
a registered one. For environments that crash, leak or must be killed (docs/programs.md).
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
from typing import IO, Any


def make(name: str) -> Any:
    module, _, function = name.partition(":")
    if not function:
        raise SystemExit("usage: python -m hilo.serve MODULE:NAME")
    if module == "gymnasium":
        import gymnasium

        return gymnasium.make(function, disable_env_checker=True)
    sys.path.insert(0, os.getcwd())
    return getattr(importlib.import_module(module), function)()


def space_of(space: Any, what: str) -> Any:
    """A space as the answer to hello has it: a number, or a list of bounds."""
    if type(space).__name__ == "Discrete":
        return int(space.n)
    if type(space).__name__ == "Box":
        lows, highs = space.low.reshape(-1), space.high.reshape(-1)
        return [
            [float(x) if math.isfinite(x) else None for x in pair] for pair in zip(lows, highs)
        ]
    raise SystemExit(f"the {what} space is {space}, but must be Discrete or Box")


class Served:
    """One environment and where it is."""

    def __init__(self, env: Any, name: str) -> None:
        self.env = env
        self.name = name
        self.over = True

    def hello(self) -> str:
        states = space_of(self.env.observation_space, "observation")
        return json.dumps(
            {
                "hilo": 1,
                "name": self.name,
                "version": "",
                "actions": space_of(self.env.action_space, "action"),
                "observation": {"states": states} if isinstance(states, int) else states,
                "start": "none",
                "seedable": True,
                "deterministic": False,
            }
        )

    def numbers(self, observation: Any) -> str:
        space = self.env.observation_space
        if type(space).__name__ == "Discrete":
            return str(int(observation) - int(space.start))
        return " ".join(repr(float(x)) for x in observation.reshape(-1))

    def reset(self, words: list[str]) -> str:
        observation, _ = self.env.reset(seed=int(words[0]))
        self.over = False
        return f"ok 0 {self.numbers(observation)}"

    def action(self, words: list[str]) -> Any:
        space = self.env.action_space
        if type(space).__name__ == "Discrete":
            action = int(words[0]) + int(space.start)
            if len(words) != 1 or not 0 <= action - int(space.start) < int(space.n):
                raise ValueError(f"there is no action {' '.join(words)}")
            return action
        import numpy as np

        return np.array([float(w) for w in words], dtype=space.dtype).reshape(space.shape)

    def step(self, words: list[str]) -> str:
        if self.over:
            return "error the episode is over"
        observation, reward, ended, cut, _ = self.env.step(self.action(words))
        self.over = bool(ended or cut)
        end = 1 if ended else 2 if cut else 0
        return f"ok {float(reward)!r} {end} {self.numbers(observation)}"


def serve(served: Served, lines: IO[str], out: IO[str]) -> None:
    for line in lines:
        words = line.split()
        if not words:
            continue
        try:
            if words[0] == "hello":
                answer = served.hello()
            elif words[0] == "reset":
                answer = served.reset(words[1:])
            elif words[0] == "step":
                answer = served.step(words[1:])
            elif words[0] == "quit":
                return
            else:
                answer = f"error unknown request {words[0]}"
        except Exception as e:
            text = " ".join(f"{type(e).__name__}: {e}".split())
            answer = f"error {text}"
        out.write(answer + "\n")
        out.flush()


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m hilo.serve MODULE:NAME")
    # What the environment prints must not be taken for answers.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(Served(make(sys.argv[1]), sys.argv[1]), sys.stdin, out)


if __name__ == "__main__":
    main()
