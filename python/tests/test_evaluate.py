"""hilo.evaluate: what policies are worth on the expensive simulator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import hilo


class Walk(gymnasium.Env[np.ndarray, np.ndarray]):
    """A point that is pushed towards 0 and kicked at random; `error` is how wrong a copy of it is."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float64)

    def __init__(self, error: float = 0.0, fails: int = 0) -> None:
        self.error, self.fails, self.resets = error, fails, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.resets += 1
        if self.fails and seed is not None and seed % self.fails == 0:
            raise RuntimeError("the pump is out of order")
        self.x, self.t = self.np_random.normal(), 0
        return np.array([self.x, 0.0]), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.t += 1
        kick = self.np_random.normal()
        self.x = (0.9 + self.error) * self.x + 0.5 * float(action[0]) + 0.2 * kick
        return np.array([self.x, self.t / 10]), -self.x * self.x, self.t == 10, False, {}


def towards_zero(observation: np.ndarray) -> np.ndarray:
    return np.clip(-observation[:1], -1, 1)


def nothing(observation: np.ndarray) -> np.ndarray:
    return np.zeros(1)


def evaluate(*args: Any, **more: Any) -> hilo.Evaluated:
    return hilo.evaluate(*args, **{"journal": False, "costs": [1.0, 0.01], "budget": 60, **more})


def test_a_good_cheap_simulator_sharpens_the_value() -> None:
    found = evaluate(towards_zero, Walk(), [Walk(error=0.01)])
    (worth,) = found.policies.values()
    assert worth.helped and worth.worth_episodes > 70
    assert found.low is not None and found.high is not None and found.low < found.value < found.high
    assert worth.standard_error is not None and found.high - found.low < worth.plain[2] - worth.plain[1]  # type: ignore[operator]
    assert found.simulators[1]["used"] and found.correlations[0][1] > 0.9
    assert found.equal_episodes <= 60 * (1 + 1e-9)
    assert "as sharp as" in found.headline and found.headline in str(found)
    # Against brute force: 4 standard errors.
    many = evaluate(towards_zero, Walk(), budget=3000, costs=[1.0])
    error = (many.policies["policy"].standard_error or 0) ** 2 + worth.standard_error**2
    assert abs(many.value - found.value) < 4 * error**0.5


def test_policies_are_compared_in_pairs() -> None:
    found = evaluate({"push": towards_zero, "rest": nothing}, Walk(), Walk(error=0.02))
    assert found.best == "push"
    difference = found.differences["push", "rest"]
    assert difference.low is not None and difference.low > 0
    assert "'push' is better than 'rest'" in found.headline
    with pytest.raises(hilo.Error, match="several policies"):
        _ = found.value
    same = evaluate([towards_zero, lambda o: towards_zero(o)], Walk(), Walk())
    assert same.best is None and list(same.policies) == ["towards_zero", "policy 2"]
    assert same.differences["towards_zero", "policy 2"].value == 0
    assert any("equal" in caution for caution in same.cautions) or "cannot be told" in same.headline


def test_nothing_is_paid_for_twice(tmp_path: Path) -> None:
    high = Walk()
    more = {"name": "walk", "journal": tmp_path / "a.journal"}
    first = evaluate(towards_zero, high, [Walk(error=0.01)], **more)
    resets = high.resets
    again = evaluate(towards_zero, high, [Walk(error=0.01)], **more)
    assert high.resets == resets and again.value == first.value and again.high == first.high
    assert again.details["paid"] == 0
    # Another quantity of the same episodes costs nothing either.
    longest = evaluate(towards_zero, high, quantity=lambda e: float(np.max(np.abs(e.observations[:, 0]))), costs=[1.0], budget=20, **more)
    assert high.resets == resets and longest.value > 0
    larger = evaluate(towards_zero, high, [Walk(error=0.01)], **{**more, "budget": 120})
    assert high.resets > resets and larger.details["replayed"] > 30


def test_other_quantities() -> None:
    assert evaluate(nothing, Walk(), quantity="length", costs=[1.0], budget=10).value == 10
    assert evaluate(nothing, Walk(), quantity="success", costs=[1.0], budget=10).value == 1
    share = evaluate(nothing, Walk(), quantity="success", success_above=-3.0, costs=[1.0], budget=50).value
    assert 0 < share < 1
    plain = evaluate(nothing, Walk(), costs=[1.0], budget=30).value
    total = evaluate(nothing, Walk(), quantity="total-reward", costs=[1.0], budget=30).value
    assert plain == pytest.approx(total, rel=1e-12)
    assert plain < evaluate(nothing, Walk(), gamma=0.5, costs=[1.0], budget=30).value


class Model:
    """As models of stable-baselines3 are used."""

    def predict(self, observation: np.ndarray, deterministic: bool = False) -> tuple[np.ndarray, None]:
        assert deterministic
        return towards_zero(observation), None


def test_policies_of_any_origin(tmp_path: Path) -> None:
    program = tmp_path / "policy.py"
    program.write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    words = line.split()\n"
        "    if words[0] == 'begin':\n"
        "        print('ok', flush=True)\n"
        "    else:\n"
        "        print('ok', max(-1.0, min(1.0, -float(words[1]))), flush=True)\n"
    )
    found = evaluate(
        {"function": towards_zero, "model": Model(), "program": f"command: {sys.executable} {program}"},
        Walk(),
        costs=[1.0],
        budget=30,
    )
    values = [worth.value for worth in found.policies.values()]
    assert values[0] == values[1] == pytest.approx(values[2], abs=1e-12)

    drawn = [
        evaluate(lambda o, rng: np.array([rng.uniform(-1, 1)]), Walk(), costs=[1.0], budget=10).value for _ in range(2)
    ]
    assert drawn[0] == drawn[1]  # its random numbers are hilo's


def test_a_learnt_policy_is_evaluated(tmp_path: Path) -> None:
    def corridor(state: int, action: int, rng: np.random.Generator) -> tuple[int, float, bool]:
        state = min(5, max(0, state + (1 if action == 1 and rng.random() > 0.2 else -1)))
        return state, 1.0 if state == 5 else -0.1, state == 5

    simulator = hilo.wrap(corridor, states=6, actions=2, start=0, terminal=[5])
    learnt = hilo.learn(simulator, simulator, name="corridor", journal=tmp_path / "l", episodes=40, max_steps=50)
    saved = learnt.save(tmp_path / "p.json")
    found = evaluate({"object": learnt.policy, "file": saved}, simulator, simulator, max_steps=50, budget=60)
    assert found.policies["object"].value == found.policies["file"].value
    alone = evaluate(saved, simulator, simulator, max_steps=50, budget=60)
    assert alone.simulators[1]["correlation"]["value"] == pytest.approx(1)


def test_networks_and_simulators_of_arrays(tmp_path: Path) -> None:
    def drift(friction: float) -> hilo.VectorSimulator:
        def step(states: Any, actions: Any, noise: Any) -> Any:
            following = (1 - friction) * states + 0.1 * actions + 0.02 * noise
            return following, -(states[:, 0] ** 2), np.abs(following[:, 0]) > 5

        return hilo.VectorSimulator(
            step, start=lambda rng: [rng.normal()], observations=[(-9, 9)], actions=[(-1, 1)], noise=1, max_steps=20,
            identity=f"drift {friction}",
        )  # fmt: skip

    agent = {
        "kind": "corrected", "scenarios": 2, "population": 4, "generations": 2, "restarts": 1, "frequencies": 20,
        "fit_points": 30, "search.low_steps": 200,
    }  # fmt: skip
    learnt = hilo.learn(
        drift(0.1), drift(0.05), episodes=1, reserve=0, agent=agent, gamma=1.0, journal=tmp_path / "l", progress=False
    )
    saved = learnt.save(tmp_path / "p.json")
    more = {"name": "drift", "journal": tmp_path / "a.journal"}
    found = evaluate({"object": learnt.policy, "file": saved}, drift(0.1), [drift(0.05)], **more)
    assert found.policies["object"].value == found.policies["file"].value
    alone = evaluate(learnt.policy, drift(0.1), [drift(0.05)], **more)
    # The network is known again, and the cheap simulator starts where the expensive one did.
    assert alone.details["replayed"] > 0 and alone.policies["policy"].helped
    assert evaluate(lambda o: -o, drift(0.1), drift(0.05), coupling="start").policies["policy"].helped
    with pytest.raises(hilo.Error, match="p.json: its observations are vectors of 1, but those of CartPole-v1 .* of 4"):
        evaluate(saved, "CartPole-v1")
    bad = tmp_path / "bad.json"
    bad.write_text('{"hilo_policy": 1, "kind": "network"}')
    with pytest.raises(hilo.Error, match="bad.json.*missing"):
        evaluate(bad, drift(0.1))


def test_failures_are_left_out_and_told(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="left out"):
        found = evaluate(
            nothing, Walk(fails=8), costs=[1.0], budget=30, retries=1, name="walk", journal=tmp_path / "a.journal"
        )
    assert found.details["skipped"] > 0 and found.details["failed_attempts"] == 2 * found.details["skipped"]
    with pytest.raises(hilo.Error, match="out of order"):
        evaluate(nothing, Walk(fails=1), costs=[1.0], retries=0, budget=30)
    with pytest.raises(hilo.Error, match="failed 1 times"):
        evaluate(nothing, Walk(fails=1), costs=[1.0], retries=0, on_failure="stop", budget=30)
    # A cheap simulator that fails is not used, and the reason is told.
    found = evaluate(nothing, Walk(), [Walk(fails=1)], retries=0)
    assert not found.simulators[1]["used"] and "out of order" in found.simulators[1]["reason"]


def test_a_width_can_be_asked_for() -> None:
    found = evaluate(towards_zero, Walk(), [Walk(error=0.01)], until=0.1, budget=2000)
    assert found.high is not None and found.low is not None
    assert max(found.high - found.value, found.value - found.low) <= 0.1
    assert len(found.stages) >= 1


def test_pictures_and_pages(tmp_path: Path) -> None:
    found = evaluate(towards_zero, Walk(), [Walk(error=0.01)])
    page = found.report(tmp_path / "page.html").read_text()
    assert "<svg" in page and "hilo" in page
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found.plot().figure.savefig(tmp_path / "value.png")
    pyplot.close("all")
    assert (tmp_path / "value.png").stat().st_size > 1000


def test_what_makes_no_sense_is_refused() -> None:
    def refused(match: str, *args: Any, **more: Any) -> None:
        with pytest.raises(hilo.Error, match=match):
            evaluate(*args, **more)

    refused("no policy", 3, Walk())
    refused("no simulator", nothing, 3)
    refused("needs a policy", {}, Walk())
    refused("give a budget", nothing, Walk(), budget=None)
    refused("both given", nothing, Walk(), cost=3)
    refused("policy needs at least 2", nothing, Walk(), costs=[1.0], budget=1)
    refused("quantity is 'retrun'", nothing, Walk(), quantity="retrun")
    refused("success_above", nothing, Walk(), success_above=1.0)
    refused("costs is", nothing, Walk(), costs=[1.0, 2.0])
    refused("costs has", nothing, Walk(), costs={"high": 1.0})
    refused("coupling is 'start'", nothing, Walk(), [Walk()], coupling="start")
    refused("coupling is 'best'", nothing, Walk(), coupling="best")
    refused("at most 4", nothing, Walk(), [Walk()] * 5)
    refused("other observations", nothing, Walk(), ["CartPole-v1"])
    refused("on_failure", nothing, Walk(), on_failure="retry")


def test_what_was_paid_for_survives_mistakes(tmp_path: Path) -> None:
    high = Walk()
    more = {"name": "walk", "journal": tmp_path / "a.journal", "costs": [1.0], "budget": 20}

    def broken(episode: hilo.EvaluatedEpisode) -> float:
        raise IndexError("no such thing")

    with pytest.raises(IndexError):
        evaluate(nothing, high, quantity=broken, **more)
    paid = high.resets
    kept = evaluate(nothing, high, **more)  # the journal is free again
    assert kept.details["replayed"] == paid == 1
    # The same policy under another name, beside another one.
    resets = high.resets
    found = evaluate({"still": nothing, "push": towards_zero}, high, **{**more, "budget": 40})
    assert high.resets == resets + 20 and found.details["replayed"] == 20
    # Names are cut in pictures, but not in the middle of a character.
    assert evaluate({"a" * 23: nothing, "ü" * 20: towards_zero}, high, **more).differences


def test_a_dear_cheap_simulator_is_not_asked() -> None:
    cheap = Walk()
    found = evaluate(nothing, Walk(), [cheap], costs=[1.0, 30.0], budget=20)
    assert cheap.resets == 0 and found.simulators[0]["episodes"] == 20
    with pytest.raises(hilo.Error, match="cost nothing"):
        evaluate(nothing, Walk(), costs=[0.0], budget=None, cost=40)


def test_stable_baselines3(tmp_path: Path) -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    model = sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=256, batch_size=64, seed=0, device="cpu").learn(1024)
    cheap = gymnasium.make("CartPole-v1")
    cheap.unwrapped.length = 0.55  # type: ignore[attr-defined]
    found = evaluate(model, "CartPole-v1", [cheap], name="ppo", journal=tmp_path / "a.journal", budget=40)
    assert 8 < found.value <= 500
    assert evaluate(model, "CartPole-v1", [cheap], name="ppo", journal=tmp_path / "a.journal", budget=40).details["paid"] == 0


def test_plans_of_the_theory() -> None:
    c = np.array([[1.0, 0.95, 0.8], [0.95, 1.0, 0.75], [0.8, 0.75, 1.0]])
    groups, variance, cost = hilo.mlblue_allocation(c, [1.0, 0.1, 0.01], 100.0)
    simulators, counts, coefficients, mfmc, _ = hilo.mfmc_plan(c, [1.0, 0.1, 0.01], 100.0)
    assert cost <= 100 and variance < mfmc < 0.01
    assert simulators == [0, 1, 2] and counts == sorted(counts) and coefficients == pytest.approx([0.95, 0.8])
    assert all(0 in members or max(members) > 0 for members, _ in groups)
