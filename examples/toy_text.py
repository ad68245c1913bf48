"""Gymnasium's toy-text problems, each with a cheap simulator that leaves out the chance.

python examples/toy_text.py            trains all agents and prints what came out
python examples/toy_text.py --out docs/toy-text.md --figures docs/figures      writes the page
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import hilo

AGENTS = ["mcrl", "mfmcrl+", "q-learning", "bayes", "bayes-high"]
TEST_EVERY = 20  # episodes


class Pair(NamedTuple):
    """An expensive problem, its cheap sketch, and how long to train."""

    name: str
    title: str
    high: Any
    low: Any
    episodes: int
    max_steps: int
    story: str

    @property
    def early(self) -> int:
        """The last test within a tenth of training."""
        return self.episodes // 10 // TEST_EVERY * TEST_EVERY


def newest(stem: str) -> str:
    """The id with the highest version: they differ between releases of Gymnasium."""
    return [name for name in gymnasium.registry if name.startswith(stem + "-v")][-1]


def pairs() -> list[Pair]:
    lake, taxi, cliff = newest("FrozenLake8x8"), newest("Taxi"), newest("CliffWalking")
    return [
        Pair(
            "frozen-lake",
            "FrozenLake 8x8",
            gymnasium.make(lake, is_slippery=True),
            gymnasium.make(lake, is_slippery=False),
            5000,
            200,
            "slippery ice, where a step goes where it should in one case of three; the cheap "
            "simulator knows the map but not that the ice is slippery",
        ),
        Pair(
            "taxi",
            "Taxi",
            gymnasium.make(taxi, is_rainy=True),
            gymnasium.make(taxi),
            3000,
            200,
            "in the rain, where a move goes astray in one case of five; the cheap simulator has a "
            "dry road",
        ),
        Pair(
            "cliff-walking",
            "CliffWalking",
            gymnasium.make(cliff, is_slippery=True),
            gymnasium.make(cliff),
            1000,
            1000,
            "on a slippery cliff; the cheap simulator has firm ground, on which it is best to walk "
            "along the edge",
        ),
    ]


def study(pair: Pair, truncation: str, seeds: int, store: Path | None) -> hilo.Study:
    return hilo.train(
        pair.high,
        pair.low,
        agent=AGENTS,
        episodes=pair.episodes,
        seeds=seeds,
        max_steps=pair.max_steps,
        truncation=truncation,
        test_every=TEST_EVERY,
        test_episodes=10,
        name=f"{pair.name}-{truncation}",
        store=store,
    )


def cell(summary: hilo.Summary) -> str:
    return f"{summary.mean:.3g} [{summary.low:.3g}, {summary.high:.3g}]"


def table(done: hilo.Study, pair: Pair) -> list[str]:
    """Exact values of the greedy policy, on the way and at the end."""
    early = pair.early
    lines = [
        f"| agent | after {early} episodes | after {pair.episodes} | minus MCRL, paired | "
        "cut episodes |",
        "| --- | --- | --- | --- | --- |",
    ]
    for agent in done.agents:
        difference = "" if agent == "MCRL" else cell(done.difference(agent, "MCRL"))
        cut = done.results.final_values(agent, "truncated_high")
        mean_cut = sum(cut.values()) / done.final(agent).n
        lines.append(
            f"| {agent} | {cell(done.results.at(agent, 'policy_value', early))} "
            f"| {cell(done.final(agent))} | {difference} | {mean_cut:.0f} |"
        )
    return lines


def page(studies: dict[tuple[str, str], hilo.Study], seeds: int, figures: str) -> str:
    lines = [
        "# Toy-text problems of Gymnasium",
        "",
        "Written by `make results-toy-text`, which runs [`examples/toy_text.py`]"
        "(../examples/toy_text.py). The expensive simulator has chance in it, the cheap one does "
        "not. Both are read from their tables `env.unwrapped.P`, so that no Python runs in the "
        "training and the value of every policy is known exactly.",
        "",
        f"Numbers are exact discounted values (γ = 0.99) of the greedy policy from the start, means "
        f"over {seeds} seeds with 95 % intervals. Bayes-high is Bayes without the cheap simulator. "
        "An episode is cut after the environment's own limit of steps (CliffWalking, which has "
        "none: 1000). `truncation` says what becomes of a cut episode: `drop`, the default, leaves "
        "it out where returns are learnt from, `terminal` takes the cut for the end. Learners from "
        "single steps lose nothing by a cut under `drop`. The values themselves are those of the "
        "problem without a limit.",
        "",
        *findings(studies),
    ]
    for pair in pairs():
        optimum = studies[pair.name, "drop"].final("MCRL", "optimal_value").mean
        lines += [
            "",
            f"## {pair.title}",
            "",
            f"The expensive one: {pair.story}. The optimum is {optimum:.3f}.",
            "",
            f"![Learning curves]({figures}/toy-{pair.name}.png)",
        ]
        for truncation in ("drop", "terminal"):
            lines += ["", f'With `truncation = "{truncation}"`:', ""]
            lines += table(studies[pair.name, truncation], pair)
    return "\n".join(lines) + "\n"


def findings(studies: dict[tuple[str, str], hilo.Study]) -> list[str]:
    """Did the cheap simulator help, and whom?"""
    lines = [
        "What the cheap simulator does, paired by seed; **bold** where the interval is clear of 0:",
        "",
        "| problem | truncation | MFMCRL+ minus MCRL, at 10 % | at the end | "
        "Bayes minus Bayes-high, at 10 % | at the end |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for pair in pairs():
        for truncation in ("drop", "terminal"):
            done = studies[pair.name, truncation]
            cells = [
                signed(difference)
                for agent, without in (("MFMCRL+", "MCRL"), ("Bayes", "Bayes-high"))
                for difference in (
                    early_difference(done, agent, without, pair.early),
                    done.difference(agent, without),
                )
            ]
            lines.append(f"| {pair.title} | `{truncation}` | {' | '.join(cells)} |")
    return lines


def signed(d: hilo.Summary) -> str:
    text = f"{d.mean:+.3g} [{d.low:+.3g}, {d.high:+.3g}]"
    return f"**{text}**" if d.low > 0 or d.high < 0 else text


def early_difference(done: hilo.Study, agent: str, other: str, episode: int) -> hilo.Summary:
    """Paired by seed, after so many episodes."""
    import numpy as np

    columns = done.columns()
    values: dict[str, dict[int, float]] = {agent: {}, other: {}}
    for label, seed, at, metric, value in zip(
        columns["agent"], columns["seed"], columns["episode"], columns["metric"], columns["value"]
    ):
        if metric == "policy_value" and at == episode and label in values:
            values[label][int(seed)] = value
    return hilo.summarise(np.array([values[agent][s] - values[other][s] for s in values[agent]]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--store", type=Path, help="keeps all runs, and finds them again")
    parser.add_argument("--out", type=Path, help="write the page there")
    parser.add_argument("--figures", type=Path, default=Path("figures"))
    options = parser.parse_args()
    studies = {}
    for pair in pairs():
        for truncation in ("drop", "terminal"):
            done = study(pair, truncation, options.seeds, options.store)
            studies[pair.name, truncation] = done
            print(done, end="\n\n")
        options.figures.mkdir(parents=True, exist_ok=True)
        studies[pair.name, "drop"].plot(options.figures / f"toy-{pair.name}.png")
    if options.out:
        options.out.write_text(page(studies, options.seeds, options.figures.name))


if __name__ == "__main__":
    main()
