"""Programs as simulators: hilo.program, hilo.check_simulator and python -m hilo.serve."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import hilo

SIMULATOR = Path(__file__).parents[2] / "tests" / "programs" / "simulator.py"
COMMAND = f"{sys.executable} {SIMULATOR}"
SETTING: dict[str, Any] = dict(
    episodes=30, max_steps=60, gamma=0.9, truncation="terminal", name="corridor", progress=False
)


def walk(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
    state = max(0, state + action * (-1 if rng.random() < 0.1 else 1))
    return state, 1.0 if state == 9 else -0.01, state == 9


def cheap() -> Any:
    return hilo.wrap(walk, states=10, actions=2, start=0, terminal=[9])


def test_one_side_may_be_a_program_and_the_other_python(tmp_path: Path) -> None:
    learnt = hilo.learn(
        hilo.program(COMMAND), cheap(), journal=tmp_path / "a", costs={"high_step": 1.0}, **SETTING
    )
    assert learnt.agent == "Bayes"
    assert learnt.bill["episodes"] == 30
    assert [learnt.policy(s) for s in range(9)] == [1] * 9
    both = hilo.learn(
        hilo.program(COMMAND), hilo.program(COMMAND + " good"), journal=tmp_path / "b", **SETTING
    )
    assert both.bill["low_steps"] > 0


def test_workers_do_not_change_a_bit(tmp_path: Path) -> None:
    values = []
    for workers in (1, 3):
        high = hilo.program(COMMAND + " shuffles", workers=workers)
        journal = tmp_path / f"{workers}.journal"
        learnt = hilo.learn(high, journal=journal, agent="q-learning", lag=3, **SETTING)
        values.append((learnt.value.mean, learnt.bill["steps"]))
    assert values[0] == values[1]


def test_failures_are_in_the_journal(tmp_path: Path) -> None:
    high = hilo.program(COMMAND + " exits")
    with pytest.raises(hilo.Error, match="no disk space") as caught:
        hilo.learn(high, journal=tmp_path / "a", agent="q-learning", retries=1, **SETTING)
    assert caught.value.code == hilo.Errc.simulator
    with pytest.raises(hilo.Error, match="unknown key 'low.grids'"):
        hilo.program(COMMAND, grids=[3])


def test_an_interrupt_ends_a_step_of_a_minute(tmp_path: Path) -> None:
    code = f"""
import hilo
high = hilo.program({COMMAND + " hangs"!r})
print("ready", flush=True)
hilo.learn(high, episodes=5, agent="q-learning", name="x", progress=False)
"""
    run = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdout is not None
    run.stdout.readline()
    time.sleep(1.5)
    begun = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=20)
    assert time.monotonic() - begun < 2
    assert b"KeyboardInterrupt" in errors
    left = subprocess.run(["pgrep", "-f", f"{SIMULATOR} hangs"], capture_output=True, text=True)
    assert left.stdout == ""


def test_check_simulator() -> None:
    assert hilo.check_simulator(hilo.program(COMMAND), episodes=5).good
    bad = hilo.check_simulator(hilo.program(COMMAND + " leaks-state"), episodes=5)
    assert not bad.good
    assert "what to do" in str(bad)
    assert hilo.check_simulator(cheap(), role="low", episodes=5).good

    class Forgetful(gymnasium.Env):  # type: ignore[type-arg]
        """Ignores the seed of a reset."""

        observation_space = gymnasium.spaces.Discrete(5)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
            self.at = int.from_bytes(os.urandom(1), "little") % 4
            return self.at, {}

        def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
            self.at = (self.at + int.from_bytes(os.urandom(1), "little")) % 5
            return self.at, 0.0, self.at == 4, False, {}

    findings = hilo.check_simulator(Forgetful(), episodes=5)
    assert {f.check: f.verdict for f in findings.findings}["same seed"] == "bad"
    assert {f.check: f.verdict for f in findings.findings}["two at once"] == "skipped"


def test_serve_speaks_the_protocol(tmp_path: Path) -> None:
    serve = f"{sys.executable} -m hilo.serve"
    assert hilo.check_simulator(hilo.program(f"{serve} gymnasium:FrozenLake-v1"), episodes=5).good
    cart = hilo.program(
        f"{serve} gymnasium:CartPole-v1",
        grid=[3, 3, 6, 6],
        grid_low=[-2.4, -3, -0.21, -3],
        grid_high=[2.4, 3, 0.21, 3],
    )
    learnt = hilo.learn(cart, journal=tmp_path / "c", **{**SETTING, "episodes": 10, "max_steps": 100})
    assert learnt.bill["episodes"] == 10
