"""Whatever a user's simulator does wrong: a clear error, and nothing is lost."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import gymnasium
import hilo
import numpy as np
import pytest
from conftest import WalkEnv, walk

WALK: dict[str, Any] = {"states": 10, "actions": 2, "start": 0}
QUICK: dict[str, Any] = {"agent": "mcrl", "episodes": 30, "seeds": 2, "progress": False}


class NoSuchValve(Exception):
    """An error of the user's own."""


class Breaks(WalkEnv):
    """Raises in its n-th step."""

    steps, worst = 0, 100

    def step(self, action: Any) -> Any:
        self.steps += 1
        if self.steps == self.worst:
            raise NoSuchValve("valve 7")
        return super().step(action)


def test_an_exception_in_an_environment(tmp_path: Path) -> None:
    file = tmp_path / "broken.db"
    # It counts its steps, which would change its fingerprint, so its identity must be given.
    env = hilo.wrap(Breaks(), identity="breaks once")
    with pytest.raises(NoSuchValve, match="valve 7") as error:
        hilo.train(env, store=file, name="broken", **QUICK)
    frames = "".join(traceback.format_exception(error.value))
    assert 'raise NoSuchValve("valve 7")' in frames and "test_failures.py" in frames
    if hasattr(error.value, "__notes__"):
        assert "1 of 2 runs failed" in error.value.__notes__[0]
    assert error.value.study.final("MCRL").n == 1  # type: ignore[attr-defined]
    with hilo.Store(file) as store:
        ((agent, planned, finished, failed),) = store.status("broken")
        assert (agent, planned, finished, failed) == ("MCRL", 2, 1, 1), "the other run went on"
        ((_, _, text),) = store.failed_runs("broken")
        assert text.startswith("NoSuchValve: valve 7 (test_failures.py:") and "in step" in text
    study = hilo.train(env, store=file, name="broken", **QUICK)
    assert study.final("MCRL").n == 2, "the next run works, and makes up for the failed one"


@pytest.mark.parametrize("side", ["high", "low"])
def test_an_exception_in_a_function(side: str) -> None:
    def breaks(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        if state == 3:
            raise NoSuchValve("here")
        return walk(state, action, rng)

    bad, good = hilo.wrap(breaks, **WALK), hilo.wrap(walk, **WALK)
    pair = (bad, good) if side == "high" else (good, bad)
    with pytest.raises(NoSuchValve):
        hilo.train(*pair, **{**QUICK, "agent": "mfmcrl"})
    with pytest.raises(NoSuchValve):
        hilo.diagnose(*pair, progress=False)
    agent = hilo.Agent("mfmcrl", hilo.pair(*pair))
    with pytest.raises(NoSuchValve):
        for _ in range(50):
            agent.learn(agent.run_episode())
    if side == "low":
        with pytest.raises(hilo.Error, match="load a saved state"):
            agent.learn(agent.run_episode())
    assert hilo.train(good, good, **{**QUICK, "agent": "mfmcrl"}).final("MFMCRL").n == 2


def bad_step(out: Any) -> Any:
    return hilo.wrap(lambda state, action, rng: out, **WALK)


@pytest.mark.parametrize(
    ("simulator", "message"),
    [
        (bad_step((1, float("nan"), False)), "high fidelity, state 0, action [01]: reward is nan"),
        (bad_step((1, float("inf"), False)), "reward is inf"),
        (bad_step((1, "much", False)), "the reward is 'much' of type str"),
        (bad_step((1, [1.0, 2.0], False)), "the reward is .* must be one number"),
        (bad_step((99, 0.0, False)), r"next state is 99, but must be in \[0, 9\]"),
        (bad_step((-1, 0.0, False)), "next state is -1"),
        (bad_step((1.5, 0.0, False)), "is 1.5 of type float, but must be a whole number"),
        (bad_step((True, 0.0, False)), "of type bool, but must be a whole number"),
        (bad_step((1, 0.0)), "must return .next, reward, done."),
        (bad_step(None), "must return .next, reward, done."),
        (hilo.wrap(walk, states=10, actions=2, start=10), "the start state is 10"),
        (hilo.wrap(walk, states=0, actions=2, start=0), "number of states is 0"),
        (hilo.wrap(walk, states=10, actions=0, start=0), "number of actions is 0"),
    ],
)
def test_wrong_steps_of_functions(simulator: Any, message: str) -> None:
    with pytest.raises(hilo.Error, match=message):
        hilo.train(simulator, **QUICK)


class Gives(WalkEnv):
    """An environment whose observations or steps are what a test says."""

    def __init__(self, observation: Any = None, out: Any = None, first: Any = None) -> None:
        super().__init__()
        self.observation, self.out, self.first_out = observation, out, first

    def reset(self, **_: Any) -> Any:
        return self.first_out if self.first_out is not None else (0, {})

    def step(self, action: Any) -> Any:
        if self.out is not None:
            return self.out
        return self.observation, 0.0, False, False, {}


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (Gives(observation=12), r"the observation is 12, but must be in \[0, 9\]"),
        (Gives(observation=-1), "the observation is -1"),
        (Gives(observation=2.0), "of type float, but must be a whole number"),
        (Gives(observation=np.float32(2)), "of type float32"),
        (Gives(observation="2"), "of type str"),
        (Gives(out=(1, float("nan"), False, False, {})), "reward is nan"),
        (Gives(out=(1, 0.0, False, {})), "step returned 4 things"),
        (Gives(out=17), "step returned int things"),
        (Gives(first=0), "reset returned 0, but must return"),
    ],
)
def test_wrong_environments(env: Any, message: str) -> None:
    with pytest.raises(hilo.Error, match=message) as error:
        hilo.train(env, **QUICK)
    assert error.value.code is hilo.Errc.simulator


def test_an_environment_that_never_ends() -> None:
    endless = Gives(observation=3)
    with pytest.raises(hilo.Error, match="episodes were cut .max_steps is 50.*ever end"):
        hilo.train(endless, max_steps=50, **QUICK)
    with pytest.raises(hilo.Error, match="cut .by the simulator itself, the last after 7 steps"):
        hilo.train(gymnasium.wrappers.TimeLimit(endless, 7), max_steps=50, **QUICK)
    with pytest.raises(hilo.Error, match="all episodes of the pilot were cut"):
        hilo.diagnose(endless, WalkEnv(), max_steps=50, episodes=5, progress=False)
    learnt = hilo.train(endless, max_steps=50, **{**QUICK, "agent": "q-learning"})
    assert learnt.final("Q-learning", "truncated_high").mean == 30, "steps teach all the same"


def test_an_environment_that_ends_before_it_begins() -> None:
    class Done(gymnasium.Wrapper):  # type: ignore[type-arg]
        def step(self, action: Any) -> Any:
            return 9, 0.0, True, False, {}

    assert hilo.train(Done(WalkEnv()), **QUICK).final("MCRL", "high_steps").mean == 30


def test_a_low_fidelity_that_lands_elsewhere() -> None:
    class Elsewhere(WalkEnv):
        """Can be put into states until it is needed."""

        asked = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            self.asked += options is not None
            return super().reset(seed=seed, options={"state": 0} if self.asked > 10 else options)

    with pytest.raises(hilo.Error, match="led to state 0, but must lead to state"):
        hilo.train(WalkEnv(), Elsewhere(), **{**QUICK, "agent": "mfmcrl"})


def test_strange_exceptions() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def raises(error: Exception) -> Any:
        def step(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
            raise error

        return step

    for error in (Mute(), ValueError("\ud800"), SystemError()):
        with pytest.raises(type(error)):
            hilo.train(raises(error), **WALK, **QUICK)


def test_a_simulator_that_runs_itself() -> None:
    inner: list[Any] = []

    def step(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        inner[0].run_episode()
        return 0, 0.0, True

    inner.append(hilo.pair(step, step, **WALK).high)
    with pytest.raises(hilo.Error, match="from within its own"):
        inner[0].run_episode()


def test_errors_of_runs_keep_their_code(tmp_path: Path) -> None:
    problem = f'kind = "table"\nfolder = "{tmp_path}"'
    spec = f'spec_version = 1\nname = "x"\n[problem]\n{problem}\n[train]\nepisodes = 3\n[[agent]]\nkind = "mcrl"\n'
    with pytest.raises(hilo.Error) as error:
        hilo.run(spec, store=tmp_path / "x.db", progress=False)
    assert error.value.code is hilo.Errc.io


def test_the_store_is_not_half_written_and_not_shared(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    hilo.train(WalkEnv(), store=file, **QUICK)
    with hilo.Store(file, writable=True):
        with pytest.raises(hilo.Error, match="another|writ") as error:
            hilo.train(WalkEnv(), store=file, **QUICK)
    assert error.value.code is hilo.Errc.io
    closed = hilo.Store(file)
    closed.close()
    with pytest.raises(hilo.Error, match="is closed"):
        closed.experiments()
    (tmp_path / "text.db").write_text("no store")
    with pytest.raises(hilo.Error, match="text.db") as error:
        hilo.Store(tmp_path / "text.db")
    assert error.value.code is hilo.Errc.data


def test_what_does_not_fit_into_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = {"states": 10_000, "actions": 40}
    with pytest.raises(hilo.Error, match="GB.*memory are left.*HILO_IGNORE_MEMORY"):
        hilo.build_problem("random-mdp", **size)
    spec = f"""spec_version = 1
name = "big"
seeds = 1
[problem]
kind = "random-mdp"
states = {size["states"]}
actions = {size["actions"]}
[train]
episodes = 1
[[agent]]
kind = "mcrl"
"""
    with pytest.raises(hilo.Error, match="memory are left"):
        hilo.run(spec, store=tmp_path / "big.db", progress=False)
    assert list(tmp_path.iterdir()) == []


def test_pictures_take_the_place_of_nothing(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    store = tmp_path / "r.png"  # a strange name for a store
    study = hilo.train(walk, **WALK, store=store, name="walk", **QUICK)
    before = store.read_bytes()
    for name in ("r", "r.png"):
        with pytest.raises(hilo.Error, match="read by the same command"):
            study.plot(tmp_path / name)
    for name in ("", ".", "..", "x.foo"):
        with pytest.raises(hilo.Error):
            study.plot(name)
    with pytest.raises(hilo.Error, match="there is no folder"):
        study.plot(tmp_path / "no" / "x.png")
    (tmp_path / "thesis").write_text("my thesis")
    (tmp_path / "link.svg").symlink_to(tmp_path / "thesis")
    study.plot(tmp_path / "link.svg")
    assert (tmp_path / "thesis").read_text() == "my thesis"
    assert store.read_bytes() == before
    study.plot(tmp_path / "picture")
    assert (tmp_path / "picture.png").exists()


def test_a_store_is_not_merged_into_itself(tmp_path: Path) -> None:
    hilo.train(walk, **WALK, store=tmp_path / "a.db", name="walk", **QUICK)
    with hilo.Store(tmp_path / "a.db", writable=True) as store:
        with pytest.raises(hilo.Error, match="merged into itself"):
            store.merge([tmp_path / "a.db"])


def test_numbers_and_names_beyond_all_others(tmp_path: Path) -> None:
    with pytest.raises(hilo.Error, match="beyond all others"):
        hilo.train(lambda s, a, rng: (0, 10**400, True), **WALK, store=None, **QUICK)
    with pytest.raises(hilo.Error, match="cannot be the name of a file"):
        hilo.run("a\0b.toml", store=tmp_path / "x.db")
