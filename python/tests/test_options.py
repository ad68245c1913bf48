"""Every option that is accepted acts, on whichever side it is given; others are refused."""

from __future__ import annotations

from typing import Any

import gymnasium
import hilo
import numpy as np
import pytest
from conftest import WalkEnv, sure_walk, walk

WALK: dict[str, Any] = {"states": 10, "actions": 2, "start": 0}
QUICK: dict[str, Any] = {"episodes": 40, "seeds": 2, "progress": False}


def never_done(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
    """A walk to the right that pays 1 a step and says of nothing that it ends."""
    return min(9, state + 1), 1.0, False


def length_of(simulator: Any) -> int:
    return len(simulator.run_episode(max_steps=50).actions)


def test_terminal_states_end_episodes_of_the_expensive_simulator() -> None:
    # Four steps from 0 to 4 with reward 1: the return is 4 without discounting. If the terminal
    # state were ignored, the episode would go on until it is truncated.
    study = hilo.train(
        hilo.wrap(never_done, **WALK, terminal=[4]), agent="mcrl", gamma=1.0, test_episodes=1, **QUICK
    )
    assert study.final("MCRL", "test_return").mean == 4
    assert np.allclose(study.policy().q[0].max(), 4)
    assert not study.results.has_metric("truncated_high")


def test_terminal_states_end_roll_outs_of_the_cheap_simulator() -> None:
    low = hilo.wrap(never_done, **WALK, terminal=[4])
    pair = hilo.pair(hilo.wrap(walk, **WALK), low)
    assert pair.low.is_terminal(4)
    starts = np.array([0, 2, 4], dtype=np.uint32)
    out = pair.low.roll_out(starts, np.zeros(3, dtype=np.uint32), max_steps=50)
    assert out.reward_sum.tolist() == [4, 2, 0]


def test_terminal_states_of_an_environment() -> None:
    env = hilo.wrap(WalkEnv(slip=0), terminal=[3])
    policy = hilo.train(env, agent="mcrl", epsilon=1.0, max_steps=200, **QUICK).policy()
    assert not policy.q[3:].any(), "nothing beyond is ever seen"


@pytest.mark.parametrize("terminal", [[10], [-1], [1.5], ["4"], [True], "4", 4, [[4]]])
def test_bad_lists_of_terminal_states(terminal: Any) -> None:
    for high, low in (
        (hilo.wrap(walk, **WALK, terminal=terminal), sure_walk),
        (walk, hilo.wrap(sure_walk, **WALK, terminal=terminal)),
        (hilo.wrap(WalkEnv(), terminal=terminal), WalkEnv()),
    ):
        sides = [s if not callable(s) or s not in (walk, sure_walk) else hilo.wrap(s, **WALK)
                 for s in (high, low)]  # fmt: skip
        with pytest.raises(hilo.Error, match="terminal") as error:
            hilo.pair(*sides)
        assert error.value.code is hilo.Errc.spec


def test_a_start_that_is_terminal_is_an_error() -> None:
    with pytest.raises(hilo.Error, match="start state is 0, but that is among the terminal ones"):
        hilo.train(hilo.wrap(walk, **WALK, terminal=[0]), agent="mcrl", **QUICK)


def test_other_terminal_states_are_another_simulator() -> None:
    def known_by(**options: Any) -> str:
        wrapped = hilo.wrap(never_done, **WALK, **options)
        pair = hilo.pair(wrapped, wrapped)
        return str(pair.high.source.identity)

    texts = {known_by(), known_by(terminal=[4]), known_by(terminal=[5]), known_by(hold=2)}
    assert len(texts) == 4


def test_what_is_for_the_cheap_simulator_is_refused_of_the_expensive_one() -> None:
    def paid(state: int, action: int, following: int) -> float:
        return 1.0

    def put(env: Any, state: Any) -> None:
        env.at = state

    low = hilo.wrap(sure_walk, **WALK)
    with pytest.raises(hilo.Error, match="reward has no meaning for the expensive simulator"):
        hilo.train(hilo.wrap(walk, **WALK, reward=paid), low, **QUICK)
    with pytest.raises(hilo.Error, match="set_state has no meaning for the expensive"):
        hilo.pair(hilo.wrap(WalkEnv(), set_state=put), WalkEnv())
    with pytest.raises(hilo.Error, match="reward has no meaning for the expensive"):
        hilo.train(WalkEnv(), reward=paid, **QUICK)
    # An option that is given for both simulators goes to the one it applies to.
    both = hilo.pair(walk, sure_walk, **WALK, reward=paid)
    assert both.low.reward(0, 1, 5) == 1.0


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"reward": 3}, "must be a function"),
        ({"set_state": "x"}, "must be a function"),
        ({"identity": 7}, "must be a text"),
        ({"grid": [1, 2]}, "must be a hilo.Grid"),
    ],
)
def test_options_of_another_type(option: dict[str, Any], why: str) -> None:
    with pytest.raises(hilo.Error, match=why):
        hilo.wrap(WalkEnv(), **option)


@pytest.mark.parametrize("hold", [0, -1, 1.5, True, "2"])
def test_an_action_is_held_for_a_whole_number_of_steps(hold: Any) -> None:
    with pytest.raises(hilo.Error, match="hold"):
        hilo.pair(hilo.wrap(walk, **WALK, hold=hold), hilo.wrap(sure_walk, **WALK))


def test_a_held_action() -> None:
    # 9 steps to the right are 3 held actions. The walk gives a reward only at its end.
    high = hilo.wrap(sure_walk, **WALK, hold=3)
    pair = hilo.pair(high, hilo.wrap(never_done, **WALK, hold=4, terminal=[5]))
    always_right = hilo.QTable.from_values(np.tile([0.0, 1.0], (10, 1)))
    episode = pair.high.run_episode(policy=always_right)
    assert episode.states.tolist() == [0, 3, 6, 9] and episode.rewards.tolist() == [0, 0, 1]
    out = pair.low.roll_out(np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.uint32))
    assert out.reward_sum.tolist() == [5], "4 steps, then one to the terminal state"
    assert hilo.train(high, agent="mcrl", **QUICK).policy().hold == 1, "a function has no codec"


def test_a_held_action_of_an_environment() -> None:
    env = gymnasium.make("CartPole-v1")
    grid = hilo.Grid.of(env.observation_space, [1, 1, 6, 6], low=[-2, -3, -0.21, -3],
                        high=[2, 3, 0.21, 3])  # fmt: skip
    study = hilo.train(
        hilo.wrap(env, grid=grid, hold=4), agent="mcrl", truncation="terminal", **QUICK
    )
    assert study.policy().hold == 4
    steps = study.results.final("MCRL", "high_steps").mean / 40
    reward = study.results.final("MCRL", "train_reward").mean
    assert reward > 3, "CartPole pays 1 a step, so about 4 a held one"
    assert steps < 125, "500 steps are 125 held ones"


def test_what_a_grid_would_ignore_is_refused() -> None:
    space = gymnasium.spaces.MultiDiscrete([3, 5])
    with pytest.raises(hilo.Error, match="low and high have no meaning"):
        hilo.Grid.of(space, low=[0, 0])
