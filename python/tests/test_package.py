"""The package as a whole: types, leaks, and what it needs to be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hilo


def python(code: str, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True)


def test_mypy_strict_finds_nothing(tmp_path: Path) -> None:
    # The installed package with its stubs, as a user's type checker sees it.
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "-p", "hilo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_nothing_leaks_at_exit() -> None:
    code = """
import hilo, numpy as np
def step(s, a, rng):
    return min(s + 1, 3), 1.0, s == 2
def bad(s, a, rng):
    raise KeyError("x")
w = dict(states=4, actions=2, start=0)
study = hilo.train(hilo.wrap(step, **w), hilo.wrap(step, **w), agent=["mfmcrl", "bayes"], episodes=20, seeds=2, progress=False)
kept = study.policy("Bayes", 1), study.results, hilo.build_problem("docking").pair, hilo.Agent("mcrl", hilo.build_problem("random-mdp").pair).values
try:
    hilo.train(bad, progress=False, **w)
except KeyError:
    pass
hilo.diagnose(hilo.wrap(step, **w), hilo.wrap(step, **w), episodes=5, progress=False)
pair = hilo.pair(step, step, **w)
agent, walker = hilo.Agent("mfmcrl", pair), hilo.Walker(pair.low)
agent.train(5)
try:
    hilo.train(step, agent="nonsense", **w)
except hilo.Error as error:
    kept_error = error
"""
    done = python(code, "-X", "dev")
    assert done.returncode == 0, done.stderr
    assert "leak" not in done.stderr.lower(), done.stderr
    assert done.stderr == "", done.stderr


def test_python_may_end_while_a_thread_trains() -> None:
    code = """
import hilo, threading, time
def step(s, a, rng):
    time.sleep(0.001)
    return 0, 0.0, rng.random() < 0.01
w = dict(states=4, actions=2, start=0)
threading.Thread(target=lambda: hilo.train(step, episodes=10**6, progress=False, **w), daemon=True).start()
time.sleep(1)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr


def test_numpy_is_all_it_needs() -> None:
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("gymnasium", "matplotlib", "IPython", "pandas"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import hilo
study = hilo.train(hilo.build_problem("random-mdp"), agent="mcrl", episodes=100, seeds=2, progress=False)
print(study)
for call in (lambda: study.plot(), lambda: hilo.train("FrozenLake-v1")):
    try:
        call()
        raise SystemExit("no error")
    except hilo.Error as e:
        print(e)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert "pip install matplotlib" in done.stdout and "pip install gymnasium" in done.stdout


def test_everything_public_has_a_docstring() -> None:
    for name in hilo.__all__:
        thing = getattr(hilo, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for key, member in vars(thing).items():
                if not key.startswith("_") and (callable(member) or isinstance(member, property)):
                    assert getattr(member, "__doc__", None), f"{name}.{key}"
