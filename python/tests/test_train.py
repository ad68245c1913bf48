"""hilo.train, hilo.run and hilo.diagnose on everything they take."""

from __future__ import annotations

import functools
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import gymnasium
import hilo
import numpy as np
import pytest
from conftest import WalkEnv, sure_walk, walk

WALK: dict[str, Any] = {"states": 10, "actions": 2, "start": 0}
QUICK: dict[str, Any] = {"episodes": 30, "seeds": 2, "progress": False}
FEW: list[Any] = ["mcrl", {"kind": "mfmcrl", "variant": "plus", "low_rollouts": 2}]


def rows(store: hilo.Store, experiment: str) -> list[tuple[Any, ...]]:
    columns = store.columns(experiment)
    return [
        row
        for row in zip(*(columns[name] for name in ("agent", "seed", "episode", "metric", "value")))
        if row[3] != "seconds"
    ]


SPEC = """spec_version = 1
name = "same"
seeds = 3

[problem]
kind = "random-mdp"
states = 30
actions = 4

[train]
episodes = 100
max_steps = 10000

[test]
every = 20
episodes = 10
exact_every = 20

[[agent]]
kind = "mcrl"

[[agent]]
kind = "mfmcrl"
variant = "plus"

[[agent]]
kind = "bayes"
"""


def test_the_same_spec_gives_the_same_bits_as_the_program(tmp_path: Path, program: Path) -> None:
    (tmp_path / "same.toml").write_text(SPEC)
    subprocess.run([program, "run", "same.toml", "--store", "program.db"], cwd=tmp_path, check=True)
    by_program = rows(hilo.Store(tmp_path / "program.db"), "same")
    assert len(by_program) > 100
    for threads in (1, 2):
        study = hilo.run(SPEC, store=tmp_path / f"{threads}.db", threads=threads, progress=False)
        assert rows(study.store, "same") == by_program
    trained = hilo.train(
        hilo.build_problem("random-mdp", states=30, actions=4),
        agent=["mcrl", "mfmcrl+", "bayes"],
        episodes=100,
        seeds=3,
        test_every=20,
        test_episodes=10,
        name="same",
        progress=False,
    )
    assert rows(trained.store, "same") == by_program
    with hilo.Store(tmp_path / "program.db") as store:
        q = store.policy("same", "Bayes", 1).q
    assert np.array_equal(q, trained.policy("Bayes", 1).q)


def test_finished_runs_are_not_run_again(tmp_path: Path) -> None:
    file = tmp_path / "walk.db"
    seen: list[int] = []

    def count(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        seen.append(state)
        return walk(state, action, rng)

    known = hilo.wrap(count, identity="a walk that counts", **WALK)
    first = hilo.train(known, agent="mcrl", store=file, **QUICK)
    steps = len(seen)
    again = hilo.train(known, agent="mcrl", store=file, **QUICK)
    assert len(seen) == steps > 0
    assert rows(first.store, first.experiment) == rows(again.store, again.experiment)
    hilo.train(known, agent="mcrl", store=file, **{**QUICK, "seeds": 3})
    assert len(seen) > steps


def test_what_a_simulator_is_known_by() -> None:
    """Whatever changes results changes it, and nothing else does."""

    def text(thing: Any, **options: Any) -> str:
        return hilo.sides.make_side(thing, "high", options).text

    def slips(slip: float) -> Any:
        def step(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
            return (state + (rng.random() > slip)) % 10, 1.0, False

        return step

    class Louder(gymnasium.RewardWrapper):  # type: ignore[type-arg]
        def __init__(self, env: Any, by: float) -> None:
            super().__init__(env)
            self.by = by

        def reward(self, reward: Any) -> float:
            return float(reward) * self.by

    p = np.full((2, 1, 2), 0.5)
    table = hilo.from_dense(p, [[1.0], [0.0]], [1, 0], terminal=[1])
    other = hilo.from_dense(p, [[2.0], [0.0]], [1, 0], terminal=[1])
    things: list[Any] = [
        lambda: text(slips(0.1), **WALK),
        lambda: text(slips(0.2), **WALK),
        lambda: text(slips(0.2), **{**WALK, "states": 11}),
        lambda: text(slips(0.2), **{**WALK, "start": 1}),
        lambda: text(functools.partial(walk), **WALK),
        lambda: text(WalkEnv(0.2)),
        lambda: text(WalkEnv(0.3)),
        lambda: text(Louder(WalkEnv(0.2), 1.0)),
        lambda: text(Louder(WalkEnv(0.2), 100.0)),
        lambda: text(gymnasium.make("CartPole-v1"), grid=hilo.Grid([0] * 4, [1] * 4, [2] * 4)),
        lambda: text(gymnasium.make("CartPole-v1"), grid=hilo.Grid([0] * 4, [1] * 4, [3] * 4)),
        lambda: text(table),
        lambda: text(other),
        lambda: text(hilo.make_simulator(table, "inverse-cdf")),
        lambda: text(gymnasium.make("FrozenLake-v1", is_slippery=True)),
        lambda: text(gymnasium.make("FrozenLake-v1", is_slippery=False)),
        lambda: text(hilo.build_problem("random-mdp", seed=1).high),
        lambda: text(hilo.build_problem("random-mdp", seed=2).high),
    ]
    seen = [thing() for thing in things]
    assert len(set(seen)) == len(seen)
    assert [thing() for thing in things] == seen
    used = WalkEnv(0.2)
    before = text(used)
    hilo.train(used, agent="mcrl", **QUICK)
    assert text(used) == before, "what is left of an episode does not count"
    assert text(hilo.wrap(walk, identity="mine", **WALK)) == "mine"
    # In a notebook the source of a class is not available, but its compiled code is.
    cells = []
    for by in (1, 10):
        space: dict[str, Any] = {"WalkEnv": WalkEnv, "__name__": "__main__"}
        exec(
            f"class Mine(WalkEnv):\n def step(self, a):\n  return 0, {by}.0, True, False, {{}}",
            space,
        )
        cells.append(text(space["Mine"]()))
    assert cells[0] != cells[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_python_simulators_give_the_same_bits_on_any_number_of_threads(threads: int) -> None:
    study = hilo.train(
        WalkEnv(), WalkEnv(0.0), agent=[*FEW, "bayes"], threads=threads, name="bits", **QUICK
    )
    levels = {agent: study.results.final_values(agent, "train_return") for agent in study.agents}
    expected = test_python_simulators_give_the_same_bits_on_any_number_of_threads.__dict__
    assert expected.setdefault("levels", levels) == levels


def sides() -> dict[str, Any]:
    wrapped = hilo.wrap(walk, **WALK)
    p = np.zeros((10, 2, 10))
    for s in range(9):
        up, down = min(9, s + 1), max(0, s - 1)
        p[s, 1, up] += 0.8
        p[s, 1, down] += 0.2
        p[s, 0, up] += 0.2
        p[s, 0, down] += 0.8
    r = np.zeros_like(p)
    r[:, :, 9] = 1
    table = hilo.from_dense(p, r, np.eye(10)[0], terminal=[9])
    return {
        "function": wrapped,
        "environment": WalkEnv(),
        "factory": lambda: WalkEnv(),
        "shifted": WalkEnv(first=5),
        "table": table,
        "simulator": hilo.make_simulator(table),
    }


@pytest.mark.parametrize("low", list(sides()))
@pytest.mark.parametrize("high", list(sides()))
def test_any_mix_learns_the_walk(high: str, low: str) -> None:
    study = hilo.train(
        sides()[high], sides()[low], agent=FEW, episodes=40, seeds=2, progress=False, gamma=0.9
    )
    policy = study.policy("MFMCRL+")
    first = 5 if high == "shifted" else 0
    assert [policy(first + s) for s in (7, 8)] == [1, 1]


def test_ids_and_maps() -> None:
    study = hilo.train("FrozenLake-v1", "FrozenLake-v1", agent="mcrl", **QUICK)
    assert study.experiment == "FrozenLake-v1" and study.metric == "policy_value"
    assert "max_steps = 100" in study.store.spec(study.experiment), "the environment's own limit"
    pair = hilo.pair(
        hilo.wrap(walk, **WALK), hilo.wrap(sure_walk, **{**WALK, "states": 5}), map=lambda s: s // 2
    )
    assert pair.map.low_of.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    with pytest.raises(hilo.Error, match="give map="):
        hilo.pair("FrozenLake8x8-v1", "FrozenLake-v1")
    with pytest.raises(hilo.Error, match="2 actions and the low fidelity 4"):
        hilo.pair(hilo.wrap(walk, **{**WALK, "states": 16}), "FrozenLake-v1")
    with pytest.raises(hilo.Error, match="map has 77"):
        hilo.pair(WalkEnv(), WalkEnv(), map=[77] * 10)
    with pytest.raises(hilo.Error, match="map has 3 entries"):
        hilo.pair(WalkEnv(), WalkEnv(), map=[1, 2, 3])


def test_grids_give_t() -> None:
    class Line(gymnasium.Env[Any, Any]):
        """The walk with a real number as its observation."""

        observation_space = gymnasium.spaces.Box(0, 10, (1,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)
        x = 0.5

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self.x = float(options["state"][0]) if options else 0.5
            return np.array([self.x], np.float32), {}

        def step(self, action: Any) -> Any:
            self.x = min(
                9.9, max(0.1, self.x + (1 if action else -1) * self.np_random.uniform(0.5, 1.5))
            )
            return np.array([self.x], np.float32), float(self.x > 9), self.x > 9, False, {}

    fine = hilo.Grid.of(Line.observation_space, 10)
    coarse = hilo.Grid.of(Line.observation_space, 5)
    pair = hilo.pair(hilo.wrap(Line(), grid=fine), hilo.wrap(Line(), grid=coarse))
    assert pair.map.low_of.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    study = hilo.train(
        hilo.wrap(Line(), grid=fine), hilo.wrap(Line(), grid=coarse), agent=FEW, gamma=0.9, **QUICK
    )
    assert study.policy("MFMCRL+")(np.array([8.5])) == 1


def test_an_environment_without_states_to_choose_is_high_only() -> None:
    stubborn = WalkEnv(settable=False)
    hilo.train(stubborn, WalkEnv(), agent=FEW, **QUICK)
    with pytest.raises(hilo.Error) as error:
        hilo.train(WalkEnv(), stubborn, **QUICK)
    for part in (
        "cannot be the low fidelity",
        'reset(options={"state": s})',
        "set_state=",
        "copy",
        "hilo.from_table",
    ):
        assert part in str(error.value)

    def put(env: Any, state: int) -> None:
        env.unwrapped.at = state

    def copies(env: Any, state: int) -> Any:
        other = pickle.loads(pickle.dumps(env))
        other.at = state
        return other

    for way in (put, copies):
        hilo.train(WalkEnv(), hilo.wrap(stubborn, set_state=way), agent=FEW, **QUICK)


def test_tests_on_an_environment_are_off_unless_asked_for() -> None:
    off = hilo.train(WalkEnv(), agent="mcrl", **QUICK)
    assert off.metric == "train_return" and not off.results.has_metric("test_reward")
    on = hilo.train(WalkEnv(), agent="mcrl", test_episodes=5, **QUICK)
    assert on.metric == "test_return" and on.final("MCRL", "test_steps").mean > 0


def test_cut_episodes_are_stated_counted_and_shown() -> None:
    arguments: dict[str, Any] = {
        "agent": "mcrl",
        "max_steps": 15,
        "seeds": 3,
        "episodes": 100,
        "progress": False,
    }
    dropped = hilo.train(WalkEnv(), **arguments)
    cut = dropped.final("MCRL", "truncated_high").mean
    assert 0 < cut < 100 and dropped.final("MCRL", "dropped").mean == cut
    assert 'truncation = "drop"' in dropped.store.spec("WalkEnv")
    assert f"{cut:.4g}" in str(dropped) and any(
        "taught it nothing" in s for s in dropped.findings()
    )
    ended = hilo.train(WalkEnv(), truncation="terminal", **arguments)
    assert ended.final("MCRL", "dropped").mean == 0
    assert any('truncation = "terminal"' in s for s in ended.findings())
    with pytest.raises(hilo.Error, match="truncation.*drop, terminal"):
        hilo.train(WalkEnv(), truncation="ignore", **arguments)


NAMES = ["_hidden", "$x$", "$ 5", "a\\$b_{c}^2", "10% & 'more'", "$\\frac$", "m=2", "m=10"]


def _named(names: list[str]) -> hilo.Study:
    agents = [{"kind": "mcrl", "label": name} for name in names]
    return hilo.train(WalkEnv(), agent=agents, name="named", **QUICK)


def test_plots_name_agents_as_they_are(tmp_path: Path) -> None:
    study = _named(NAMES)
    figure = study.plot(tmp_path / "curves.svg")
    axes = figure.axes[0]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == study.agents and sorted(legend) == sorted(NAMES)
    assert axes.get_title().startswith("named: ")
    # matplotlib writes every text as a comment before its glyphs, escaped for XML.
    svg = (tmp_path / "curves.svg").read_text()
    for name in [*NAMES, axes.get_title()]:
        assert f"<!-- {name} -->".replace("&", "&amp;") in svg or f"<!-- {name} -->" in svg, name


def test_plots_have_the_colours_of_the_page(tmp_path: Path) -> None:
    study = _named([f"m={i}" for i in (12, *range(1, 11))])
    axes = study.plot().axes[0]
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) > 2]
    drawn = {
        name: (line.get_color(), line.get_linestyle() == "--")
        for name, line in zip(study.agents, lines)
    }
    assert drawn == study.results.styles
    page = study.report(tmp_path / "page.html").read_text()
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    palette = data["colours"]["light"]
    assert drawn == {
        agent["label"]: (palette[agent["colour"] % len(palette)], agent["dashed"])
        for agent in data["experiments"][0]["agents"]
    }
    # They are all of the kind mcrl, whose colour is the first.
    assert drawn["m=1"] == ("#000000", False) and drawn["m=12"][1]


def test_what_a_study_shows(tmp_path: Path) -> None:
    study = hilo.train(WalkEnv(), WalkEnv(0.0), agent=["mcrl", "mfmcrl+"], name="shown", **QUICK)
    assert "MFMCRL+" in str(study) and "minus MCRL, paired" in str(study)
    assert "<table>" in study._repr_html_()
    study.plot(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 5000
    page = study.report(tmp_path / "page.html").read_text()
    assert "Mean reward per step, training episodes" in page and "shown" in page
    with pytest.raises(hilo.Error, match="must end in .html"):
        study.report(tmp_path / "page.txt")
    with pytest.raises(hilo.Error, match="there is no agent 'x', but MCRL"):
        study.final("x")
    policy = pickle.loads(pickle.dumps(study.policy()))
    assert policy(8) == study.policy()(8)


def test_diagnose(tmp_path: Path) -> None:
    good = hilo.diagnose(
        hilo.build_problem("random-mdp", seed=1, snr_db=20), episodes=3000, progress=False
    )
    assert good.verdict == "use it" and good.change[2] < 0 and good.correlation > 0.5
    assert str(good).startswith("use it: ") and pickle.loads(pickle.dumps(good)) == good
    store = tmp_path / "d.db"
    hilo.diagnose(WalkEnv(), WalkEnv(0.1), episodes=30, store=store, name="walk", progress=False)
    with hilo.Store(store) as opened:
        assert '"verdict"' in opened.diagnosis("walk")
    with pytest.raises(hilo.Error, match="belong together"):
        hilo.diagnose(WalkEnv(), WalkEnv(), cost_high=3, progress=False)


def test_progress_goes_to_a_function_and_its_errors_come_back() -> None:
    calls: list[tuple[int, int, int, float]] = []
    hilo.train(WalkEnv(), agent="mcrl", **{**QUICK, "progress": lambda *call: calls.append(call)})
    assert calls[-1] == (2, 0, 2, 1.0)

    def broken(*_: object) -> None:
        raise LookupError("no display")

    with pytest.raises(LookupError, match="no display"):
        hilo.train(WalkEnv(), agent="mcrl", **{**QUICK, "progress": broken})


def test_ctrl_c_stops_cleanly_and_the_same_call_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "stopped.db"

    def slow(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        time.sleep(0.0005)
        return walk(state, action, rng)

    def train() -> hilo.Study:
        return hilo.train(
            slow, agent="mcrl", store=file, name="slow", **WALK, **{**QUICK, "seeds": 12}
        )

    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        train()
    with hilo.Store(file) as store:
        ((_, planned, finished, failed),) = store.status("slow")
    assert planned == 12 and finished < 12 and failed == 0
    study = train()
    assert study.final("MCRL").n == 12


def test_ctrl_c_does_not_wait_for_the_end_of_an_episode() -> None:
    def endless(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        time.sleep(0.002)
        return 0, 0.0, False

    for call in (
        lambda: hilo.train(endless, agent="mcrl", **WALK, **QUICK),
        lambda: hilo.diagnose(hilo.wrap(endless, **WALK), hilo.wrap(walk, **WALK), progress=False),
        lambda: hilo.Agent("mcrl", hilo.pair(endless, walk, **WALK)).train(10),
    ):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            call()  # type: ignore[no-untyped-call]
        assert time.monotonic() - start < 5, "an episode takes 20 seconds"


def test_options_that_mean_nothing_are_refused() -> None:
    problem = hilo.build_problem("random-mdp")
    with pytest.raises(hilo.Error, match="'episodez' has no meaning.*did you mean 'episodes'"):
        hilo.train(problem, episodez=10)
    with pytest.raises(hilo.Error, match="must be a hilo.Grid"):
        hilo.wrap(WalkEnv(), grid=[3])  # type: ignore[arg-type]
    for call in (
        lambda: hilo.train(problem, states=3),
        lambda: hilo.train(problem.high, problem.low, states=3),
        lambda: hilo.train(WalkEnv(), nonsense=1),
        lambda: hilo.train("FrozenLake-v1", states=3),
    ):
        with pytest.raises(hilo.Error, match="has no meaning for"):
            call()  # type: ignore[no-untyped-call]
    with pytest.raises(hilo.Error, match="no low fidelity that it could lead to"):
        hilo.train(WalkEnv(), map=[0] * 10)
    with pytest.raises(hilo.Error, match="every seed of a training builds its own"):
        hilo.train(hilo.build_problem("random-mdp", seed=7))
    with pytest.raises(hilo.Error, match="max_steps is 0"):
        hilo.train(WalkEnv(), max_steps=0, **QUICK)
    with pytest.raises(hilo.Error, match="seeds is"):
        hilo.train(WalkEnv(), seeds=[1, 2, 3])  # type: ignore[arg-type]
    with pytest.raises(hilo.Error, match="common-random-numbers"):
        hilo.train(
            WalkEnv(),
            WalkEnv(),
            agent={"kind": "mfmcrl", "coupling": "common-random-numbers"},
            **QUICK,
        )
    numbers = hilo.train(
        WalkEnv(),
        gamma=np.float64(0.9),
        episodes=np.int64(30),
        seeds=np.int64(2),
        progress=False,  # type: ignore[arg-type]
    )
    assert numbers.final("MCRL").n == 2


def test_a_pair_is_enough() -> None:
    pair = hilo.pair(WalkEnv(), WalkEnv(0.1))
    study = hilo.train(pair, agent=FEW, name="pair", **QUICK)
    apart = hilo.train(WalkEnv(), WalkEnv(0.1), agent=FEW, name="apart", **QUICK)
    assert study.final("MFMCRL+").mean == apart.final("MFMCRL+").mean
    assert hilo.diagnose(pair, episodes=20, progress=False).verdict
    with pytest.raises(hilo.Error, match="has its low fidelity"):
        hilo.train(pair, WalkEnv())
    with pytest.raises(hilo.Error, match="needs a cheap simulator"):
        hilo.diagnose(WalkEnv())


def test_agents_take_less_of_a_cheap_simulator_in_python() -> None:
    study = hilo.train(WalkEnv(), WalkEnv(), agent=["bayes"], **QUICK)
    assert study.final("Bayes", "low_steps").mean == 10 * 2 * 30
    more = hilo.train(WalkEnv(), WalkEnv(), agent={"kind": "bayes", "low_samples": 40}, **QUICK)
    assert more.final("Bayes", "low_steps").mean == 10 * 2 * 40


def test_one_environment_as_both_fidelities_does_one_thing_at_a_time() -> None:
    env = WalkEnv()
    with pytest.raises(hilo.Error, match="one environment"):
        hilo.train(env, env, threads=2, **QUICK)
    one, again = (
        hilo.train(env, env, agent=FEW, name="one", **QUICK).final("MFMCRL+").mean for _ in "12"
    )
    assert one == again


def test_maps_that_put_ends_and_others_together() -> None:
    def coarse_walk(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        following = min(4, max(0, state + (1 if action == 1 else -1)))
        return following, float(following == 4), following == 4

    coarse = hilo.wrap(coarse_walk, **{**WALK, "states": 5})
    study = hilo.train(sides()["table"], coarse, map=lambda s: s // 2, agent=FEW, **QUICK)
    assert study.final("MFMCRL+").n == 2
    kept = hilo.wrap(walk, **WALK, terminal=[5])
    pair = hilo.pair(sides()["table"], kept)
    assert [s for s in range(10) if pair.low.is_terminal(s)] == [5, 9]


def test_a_set_state_without_effect_is_noticed() -> None:
    wrapped = gymnasium.wrappers.TimeLimit(WalkEnv(settable=False), 50)

    def puts_nothing(env: Any, state: int) -> None:
        env.at = state  # an attribute of the wrapper, not of the environment

    with pytest.raises(hilo.Error, match="takes the same steps from all of them.*env.unwrapped"):
        hilo.train(WalkEnv(), hilo.wrap(wrapped, set_state=puts_nothing), **QUICK)


def test_whole_numbers_of_a_box_are_all_there() -> None:
    class Dial(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Discrete(2)
        action_space = gymnasium.spaces.Box(0, 3, (1,), np.int64)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            return 0, {}

        def step(self, action: Any) -> Any:
            return 1, float(action[0] == 3), True, False, {}

    dial = hilo.wrap(Dial(), action_grid=hilo.Grid.of(Dial.action_space, 4))
    assert hilo.train(dial, agent="mcrl", epsilon=0.5, **QUICK).policy()(0) == [3]


def test_agents_must_exist_and_need_what_they_need() -> None:
    with pytest.raises(hilo.Error, match="unknown agent kind 'mcrk'; did you mean 'mcrl'"):
        hilo.train(WalkEnv(), agent="mcrk", **QUICK)
    with pytest.raises(hilo.Error, match="mfmcrl needs a low fidelity"):
        hilo.train(WalkEnv(), agent="mfmcrl", **QUICK)
    with pytest.raises(hilo.Error, match="must be a single value"):
        hilo.train(WalkEnv(), agent={"kind": "mcrl", "weights": object()}, **QUICK)
    with pytest.raises(hilo.Error, match="is no simulator"):
        hilo.train(3.5)
    with pytest.raises(hilo.Error, match="needs states, actions, start"):
        hilo.train(walk)


def test_a_table_behind_another_wrapper_is_not_the_environment() -> None:
    changed = gymnasium.wrappers.TransformReward(gymnasium.make("FrozenLake-v1"), lambda r: 10 * r)
    side = hilo.sides.make_side(changed, "high")
    assert not side.is_native
    assert hilo.sides.make_side(gymnasium.make("FrozenLake-v1"), "high").is_native


def test_a_notebook_and_a_terminal_see_progress() -> None:
    code = "import hilo; hilo.train(hilo.build_problem('random-mdp'), agent='mcrl', episodes=300, seeds=3, progress=True)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "random-mdp: 3 of 3 runs" in shown.stderr and shown.stdout == ""
