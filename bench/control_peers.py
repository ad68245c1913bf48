"""SAC and PPO of stable-baselines3 on the expensive simulators of `hilo reproduce control`.

They learn on the expensive simulator alone, with the defaults of the package; angles are given as
cosine and sine, and actions are scaled to [-1, 1]. Episodes are counted as for hilo's agents. It
needs `pip install stable-baselines3`, whose dependencies are large, and is no part of the tests.

    python bench/control_peers.py --agents sac --episodes 200 --out peers.jsonl
    python bench/control_peers.py --table peers.jsonl --scale pendulum=-1541.2,-291.0 ...

A run of 200 episodes with SAC takes some minutes. Runs that are in the file already are skipped.
"""

import argparse
import json
import multiprocessing
import statistics
import time
from pathlib import Path

import gymnasium
import numpy as np

ENVIRONMENTS = {"pendulum": "hilo/Pendulum-v0", "cart-pole": "hilo/CartPole-v0", "acrobot": "hilo/Acrobot-v0"}
ANGLES = {"pendulum": [0], "cart-pole": [2], "acrobot": [0, 1]}
TEST_STARTS, TEST_SEED = 200, 987_654
SHOWN = [0, 1, 3, 8, 20, 50, 100, 200, 500, 1000]


def seen(observations: np.ndarray, angles: list[int]) -> np.ndarray:
    """Angles as cosine and sine, the other coordinates as they are."""
    parts = []
    for i in range(observations.shape[-1]):
        x = observations[..., i]
        parts += [np.cos(x), np.sin(x)] if i in angles else [x]
    return np.stack(parts, axis=-1).astype(np.float32)


def make(kind: str) -> gymnasium.Env:
    import hilo  # noqa: F401  (registers the environments)

    env = gymnasium.make(ENVIRONMENTS[kind], disable_env_checker=True)
    size = env.observation_space.shape[0] + len(ANGLES[kind])
    box = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
    env = gymnasium.wrappers.TransformObservation(env, lambda o: seen(o, ANGLES[kind]), box)
    return gymnasium.wrappers.RescaleAction(env, np.float32(-1), np.float32(1))


def value(model, kind: str) -> float:
    """The mean return of the policy without noise, over starts that are the same for all."""
    envs = [gymnasium.make(ENVIRONMENTS[kind], disable_env_checker=True).unwrapped for _ in range(TEST_STARTS)]
    states = np.stack([env.reset(seed=TEST_SEED + i)[0] for i, env in enumerate(envs)])
    half = float(envs[0].action_space.high[0])
    total, over = 0.0, False
    while not over:
        if model is None:
            actions = np.zeros((TEST_STARTS, 1))
        else:
            actions = half * np.clip(model.predict(seen(states, ANGLES[kind]), deterministic=True)[0], -1, 1)
        for i, env in enumerate(envs):
            states[i], reward, _, over, _ = env.step(actions[i])
            total += reward
    return total / TEST_STARTS


def run(job: tuple[str, str, int, int]) -> dict:
    kind, agent, seed, episodes = job
    import stable_baselines3
    import torch
    from stable_baselines3.common.callbacks import BaseCallback

    torch.set_num_threads(1)
    values: dict[int, float] = {}

    class Test(BaseCallback):
        def __init__(self) -> None:
            super().__init__()
            self.ended = 0

        def _on_step(self) -> bool:
            if self.locals["dones"][0]:
                self.ended += 1
                if self.ended in SHOWN:
                    values[self.ended] = value(self.model, kind)
            return self.ended < episodes

    algorithm = {"sac": stable_baselines3.SAC, "ppo": stable_baselines3.PPO}[agent]
    model = algorithm("MlpPolicy", make(kind), seed=seed, device="cpu", verbose=0)
    values[0] = value(model, kind)
    begun = time.monotonic()
    model.learn(total_timesteps=10**9, callback=Test())
    seconds = round(time.monotonic() - begun, 1)
    return {"kind": kind, "agent": agent, "seed": seed, "values": values, "seconds": seconds}


def table(file: Path, scales: dict[str, tuple[float, float]]) -> None:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    shown = sorted({int(e) for row in rows for e in row["values"]})
    print("| problem | agent | seeds | " + " | ".join(str(e) for e in shown) + " |")
    print("| --- | --- | ---: |" + " ---: |" * len(shown))
    for kind, agent in sorted({(row["kind"], row["agent"]) for row in rows}):
        of = [row for row in rows if (row["kind"], row["agent"]) == (kind, agent)]
        zero, best = scales.get(kind, (0.0, 1.0))
        cells = []
        for e in shown:
            values = [(row["values"][str(e)] - zero) / (best - zero) for row in of if str(e) in row["values"]]
            if len(values) > 1:
                low, _, high = statistics.quantiles(values, method="inclusive")
                cells.append(f"{statistics.median(values):.2f} [{low:.2f}, {high:.2f}]")
            else:
                cells.append("")
        print(f"| {kind} | {agent.upper()} | {len(of)} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=[*ENVIRONMENTS], default=[*ENVIRONMENTS])
    parser.add_argument("--agents", nargs="+", choices=["sac", "ppo"], default=["sac", "ppo"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("peers.jsonl"))
    parser.add_argument("--table", type=Path, help="only print what is in this file")
    parser.add_argument("--scale", nargs="*", default=[], help="KIND=ZERO,BEST: prints scores instead of returns")
    given = parser.parse_args()
    scales = {}
    for text in given.scale:
        kind, ends = text.split("=")
        zero, best = ends.split(",")
        scales[kind] = (float(zero), float(best))
    if given.table:
        table(given.table, scales)
        return
    known = set()
    if given.out.exists():
        for line in given.out.read_text().splitlines():
            row = json.loads(line)
            if max(map(int, row["values"])) >= given.episodes:
                known.add((row["kind"], row["agent"], row["seed"]))
    jobs = [
        (kind, agent, seed, given.episodes)
        for seed in range(given.seeds)
        for kind in given.kinds
        for agent in given.agents
        if (kind, agent, seed) not in known
    ]
    with multiprocessing.get_context("spawn").Pool(given.workers) as pool, given.out.open("a") as out:
        for row in pool.imap_unordered(run, jobs):
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(row["kind"], row["agent"], row["seed"], row["seconds"], row["values"], flush=True)
    table(given.out, scales)


if __name__ == "__main__":
    main()
