"""Measures hilo's speed and memory and writes docs/performance.md, its picture and a line of history.

    python bench/performance.py --bin build/release/bin [--out docs] [--quick]

All speeds that are compared are measured in turns in one run, because machines are shared and noisy.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def run(command: list[str | Path], **environment: str) -> str:
    done = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"performance: {' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def measure(programs: Path, what: str, **environment: str) -> Any:
    print(f"performance: {what}", file=sys.stderr)
    return json.loads(run([programs / "hilo_measure", what], **environment))


def measure_peer(programs: Path, seconds: float, turns: int) -> dict[str, float]:
    """The peer and hilo's training in turns."""
    print("performance: peer", file=sys.stderr)
    peer: list[float] = []
    own: list[float] = []
    for _ in range(turns):
        out = run(
            [sys.executable, HERE / "peer.py", "--seconds", str(seconds)], OMP_NUM_THREADS="1"
        )
        peer.append(json.loads(out)["low_steps_per_second"])
        own.append(json.loads(run([programs / "hilo_measure", "training"]))["low_steps_per_second"])
    return {
        "peer": statistics.median(peer),
        "own": statistics.median(own),
        "ratio": statistics.median([b / a for a, b in zip(peer, own)]),
        "turns": turns,
    }


def time_study(command: list[str | Path], threads: str, seeds: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        run(
            [
                *command,
                "run",
                HERE / "specs" / "study.toml",
                "--seeds",
                str(seeds),
                "--threads",
                threads,
                "--store",
                Path(folder) / "study.db",
            ],
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        )
        return time.perf_counter() - start


def measure_scaling(programs: Path, seeds: int, turns: int) -> list[dict[str, Any]]:
    """Threads and ranks, in turns."""
    print("performance: threads and ranks", file=sys.stderr)
    cores = len(os.sched_getaffinity(0))
    counts = [n for n in (1, 2, 4, 8, 16) if n <= cores]
    ways: list[tuple[str, int, list[str | Path]]] = []
    for n in counts:
        ways.append(("threads", n, [programs / "hilo"]))
    if (programs / "mpi" / "hilo").exists():
        for n in counts:
            ways.append(("ranks", n, ["mpirun", "-n", str(n), programs / "mpi" / "hilo"]))
    seconds: dict[tuple[str, int], list[float]] = {(kind, n): [] for kind, n, _ in ways}
    for _ in range(turns):
        for kind, n, command in ways:
            threads = str(n) if kind == "threads" else "1"
            seconds[kind, n].append(time_study(command, threads, seeds))
    out = []
    for kind, n, _ in ways:
        ratios = [a / b for a, b in zip(seconds[kind, 1], seconds[kind, n])]
        out.append(
            {
                "kind": kind,
                "count": n,
                "seconds": min(seconds[kind, n]),
                "speedup": statistics.median(ratios),
            }
        )
    return out


def time_page(programs: Path) -> float:
    print("performance: page", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "study.db"
        run(
            [
                programs / "hilo",
                "run",
                HERE / "specs" / "study.toml",
                "--seeds",
                "8",
                "--set",
                "train.episodes=2000",
                "--store",
                store,
            ]
        )
        start = time.perf_counter()
        run([programs / "hilo", "report", store, "--out", Path(folder) / "page.html"])
        return time.perf_counter() - start


def count_instructions(programs: Path) -> int | None:
    """Under callgrind, which knows AVX2 but not AVX-512: the same number on every machine."""
    print("performance: instructions", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/out",
                "--toggle-collect=*Training::run*",
                str(programs / "hilo_measure"),
                "count",
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "HILO_SIMD": "avx2"},
            check=False,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or int(found.group(1)) == 0:
        return None
    steps = json.loads(done.stdout)["steps"]
    return round(int(found.group(1)) / steps * 10)


def draw(data: dict[str, Any], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    names = [f"{r['states']} x {r['actions']}, m = {r['m']}" for r in data["ratios"]]
    at = range(len(names))
    left.barh(at, [r["bare"] / 1e6 for r in data["ratios"]], color="#d0d7de", label="bare loop")
    left.barh(
        at,
        [r["steps_per_second"] / 1e6 for r in data["ratios"]],
        height=0.5,
        color="#0969da",
        label="training",
    )
    left.set_yticks(at, names)
    left.invert_yaxis()
    left.set_xlabel("million steps per second, one thread")
    left.legend(frameon=False)
    for key, x, marker in (("m", "m", "o"), ("episodes", "episodes", "s")):
        points = data["growth"][key]
        label = {"m": "roll-outs m (300 episodes)", "episodes": "episodes (m = 10)"}[key]
        middle.loglog(
            [p[x] for p in points],
            [p["seconds"] for p in points],
            marker=marker,
            label=f"{label}: slope {data['growth']['slope_' + key]:.2f}",
        )
    middle.set_xlabel("m, or episodes")
    middle.set_ylabel("seconds of training")
    middle.legend(frameon=False, fontsize="small")
    points = data["growth"]["states"]
    right.semilogx(
        [p["states"] for p in points],
        [p["steps_per_second"] / 1e6 for p in points],
        marker="o",
        color="#0969da",
    )
    right.set_xlabel("states (2 actions, m = 10)")
    right.set_ylabel("million steps per second")
    right.set_ylim(bottom=0)
    figure.savefig(file, dpi=110)


def million(x: float) -> str:
    return f"{x / 1e6:.1f}"


def control_lines(control: dict[str, Any]) -> list[str]:
    """The section about policy search."""
    lines = [
        "",
        "## Policy search beside a bare loop",
        "",
        "One thread; 16 networks of 10 units in 24 scenarios of 150 steps on the cheap cart-pole, which is what a generation of",
        "a search runs. A step is one of one network in one scenario. The residual has 150 frequencies and 5 outputs, and was",
        "fitted to 300 transitions. The bare loop (`bench/control_bare_loop.cpp`) is written by hand for this problem, with the same",
        "sine, cosine and tanh: state in registers, one sine and cosine of the angle in a step, noise drawn beforehand, no streams,",
        "spaces, ends or records. Both give the same returns, to the bit. Medians over",
        f"{control['ratios'][0]['blocks']} blocks of turns, in brackets the lowest and highest ratio of a block. At least 50 % was aimed at.",
        "",
        "| | search, M steps/s | best block | bare loop, M steps/s | ratio |",
        "| --- | --- | --- | --- | --- |",
    ]
    for r in control["ratios"]:
        lines.append(
            f"| {r['name']} | {r['steps_per_second'] / 1e6:.2f} | {r['best'] / 1e6:.2f} "
            f"| {r['bare'] / 1e6:.2f} "
            f"| {100 * r['ratio']:.0f} % [{100 * r['ratio_low']:.0f}, {100 * r['ratio_high']:.0f}] |"
        )
    lines += [
        "",
        f"When something is doubled, medians of {control['growth'][0]['turns']} turns, lowest and highest in brackets; 2 is linear. The scales of a fit are",
        "searched for on at most 250 transitions, which takes most of its time until there are thousands.",
        "",
        "| | from | to | times as long |",
        "| --- | --- | --- | --- |",
    ]
    for g in control["growth"]:
        lines.append(
            f"| {g['name']} | {g['from']} | {g['to']} "
            f"| {g['ratio']:.2f} [{g['ratio_low']:.2f}, {g['ratio_high']:.2f}] |"
        )
    return lines


def gradient_lines(gradient: list[dict[str, Any]]) -> list[str]:
    """The section about policy gradients."""
    lines = [
        "",
        "## A gradient step beside a bare loop",
        "",
        "One thread; a network with two layers of 64 units, 10 paths of 200 steps, their gradient, and Adam. The bare loop",
        "(`bench/gradient_bare_loop.cpp`) is the same arithmetic in Eigen with everything laid out beforehand; both give the same weights up",
        "to rounding. `mfpg` needs the gradient of each path, to know how well cheap gradients follow expensive ones. Medians",
        f"over {gradient[0]['blocks']} blocks of turns, in brackets the lowest and highest ratio of a block. At least 50 % was aimed at.",
        "",
        "| | ms | bare loop, ms | ratio of the rates |",
        "| --- | --- | --- | --- |",
    ]
    for r in gradient:
        lines.append(
            f"| {r['name']} | {r['milliseconds']:.2f} | {r['bare']:.2f} "
            f"| {100 * r['ratio']:.0f} % [{100 * r['ratio_low']:.0f}, {100 * r['ratio_high']:.0f}] |"
        )
    return lines


def write_page(data: dict[str, Any], file: Path) -> None:
    growth, peer = data["growth"], data["peer"]
    lines = [
        "# Performance",
        "",
        "Written by `make bench`; numbers are those of the machine it ran on, and ratios are measured in turns within the",
        "same run, because machines are shared and noisy.",
        "",
        f"- machine: {data['machine']['machine']}; instruction set in use: `{data['machine']['path']}`",
        f"- program: {data['machine']['program']}",
        f"- date: {data['date']}",
        "",
        "![Speed and growth](figures/performance.png)",
        "",
        "## Training beside a bare loop",
        "",
        "One thread. A step is one step of either fidelity. Training is MFMCRL as written: high-fidelity episodes, low-fidelity",
        "roll-outs, updates of moments, values and policy. The bare loop (`bench/bare_loop.hpp`) is 64 interleaved paths through",
        "the same alias rows with the same random stream, without policy, returns, ends or learning: a ceiling. Medians over",
        f"{data['ratios'][0]['blocks']} blocks, in brackets the lowest and highest ratio of a block.",
        "",
        "| states x actions | m | training, M steps/s | best block | bare loop, M steps/s | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for r in data["ratios"]:
        lines.append(
            f"| {r['states']} x {r['actions']} | {r['m']} | {million(r['steps_per_second'])} "
            f"| {million(r['best'])} | {million(r['bare'])} "
            f"| {100 * r['ratio']:.0f} % [{100 * r['ratio_low']:.0f}, {100 * r['ratio_high']:.0f}] |"
        )
    main = next(r for r in data["ratios"] if r["states"] == 200 and r["m"] == 10)
    large = next(r for r in data["ratios"] if r["states"] == 1000 and r["m"] == 10)
    lines += [
        "",
        "What was aimed at, and what became of it in this run:",
        "",
        f"- 200 x 8, m = 10: at least 60 % of the bare loop: **{100 * main['ratio']:.0f} %**; 100 M steps/s: "
        f"**{million(main['steps_per_second'])}** (best block {million(main['best'])}).",
        f"- 1000 x 12, m = 10: at least 50 %: **{100 * large['ratio']:.0f} %**; 40 M steps/s: "
        f"**{million(large['steps_per_second'])}**.",
        f"- at least 3000 times the peer: **{peer['ratio']:.0f} times**.",
        "",
        "With m = 1 an episode has a dozen short roll-outs, too few to hide one another's latency, and the work around them",
        "dominates.",
        *(control_lines(data["control"]) if "control" in data else []),  # older histories have none
        *(gradient_lines(data["gradient"]) if "gradient" in data else []),
        "",
        "## The peer",
        "",
        "`bench/peer.py` is Algorithm 1 in plain Python and NumPy, written for this comparison the way the pseudocode reads:",
        "lists of returns, `np.cov` of them, successors and actions drawn from their distributions by the generator. It makes",
        f"{peer['peer']:,.0f} low-fidelity steps per second at 200 x 8, m = 10; hilo's training makes {million(peer['own'])} million",
        f"in turn with it: {peer['ratio']:.0f} times as many (median of {peer['turns']} turns). A peer that compares a uniform",
        "number with ε in place of drawing actions from a table is some 1.4 times faster (tried once), and code that advances many",
        "roll-outs at once would be faster still. The authors' own program makes about 10,000.",
        "",
        "## As the work grows",
        "",
        f"Training time over m from 10 to 1000 (300 episodes): log-log slope **{growth['slope_m']:.3f}**; over episodes from 1000 to",
        f"30,000 (m = 10): **{growth['slope_episodes']:.3f}**. 1 is linear.",
        "",
        "| states (2 actions) | tables of both fidelities, MB | made in, s | training, M steps/s |",
        "| --- | --- | --- | --- |",
    ]
    for p in growth["states"]:
        lines.append(
            f"| {p['states']} | {p['megabytes']:.1f} | {p['build_seconds']:.2f} "
            f"| {million(p['steps_per_second'])} |"
        )
    lines += [
        "",
        "Larger tables leave the caches: a step then waits for memory.",
        "",
        "Threads and ranks, the study of `bench/specs/study.toml` (200 x 8), medians of paired runs:",
        "",
        "| | seconds | times as fast as one |",
        "| --- | --- | --- |",
    ]
    for s in data["scaling"]:
        lines.append(f"| {s['count']} {s['kind']} | {s['seconds']:.1f} | {s['speedup']:.2f} |")
    lines += [
        "",
        "## Memory",
        "",
        "Peak of a process that makes a pair and trains on it:",
        "",
        "| states x actions | m | episodes | MB |",
        "| --- | --- | --- | --- |",
    ]
    for m in data["memory"]:
        lines.append(
            f"| {m['states']} x {m['actions']} | {m['m']} | {m['episodes']} "
            f"| {m['megabytes']:.0f} |"
        )
    small = [m["megabytes"] for m in data["memory"] if m["states"] == 200]
    lines += [
        "",
        "It grows neither with episodes nor with m."
        if max(small) < 1.1 * min(small)
        else "IT GROWS, which it must not.",
        "",
        "## Parts",
        "",
        "| | of | ms |",
        "| --- | --- | --- |",
    ]
    for p in data["parts"]["parts"]:
        lines.append(f"| {p['name']} | {p['of']} | {1000 * p['seconds']:.3g} |")
    lines += [
        f"| report page | 16 runs | {1000 * data['page']:.3g} |",
        "",
        f"Architecture search (109,375 states, computed and not tabulated; m = 10): "
        f"{million(data['parts']['nas_steps_per_second'])} M steps/s.",
        "",
        "## Instructions",
        "",
    ]
    if data["instructions"] is None:
        lines.append("Not counted: valgrind did not run.")
    else:
        lines.append(
            f"{data['instructions'] / 10:.1f} instructions per step of training at 200 x 8, m = 10 "
            "(callgrind, path `avx2`). This number does not depend on what else the machine does; "
            "`bench/history/` keeps it for every `make bench`, and `make bench-compare BASE=COMMIT` "
            "compares two commits."
        )
    lines += [
        "",
        "## How",
        "",
        "- Roll-outs of a table take their t-th step together (`src/hilo/env/detail/lockstep.hpp`). Random blocks, columns and outcomes",
        "  are computed as vectors; table look-ups are independent plain loads, of which a CPU has many under way. Nothing",
        "  branches on random data. When few paths are left, their words are drawn for several steps at once.",
        "- The vector code is written once, with Highway, and compiled for SSE4, AVX2 and AVX-512 and once more without any; the",
        "  best path that the CPU has is taken at run time. `HILO_SIMD=scalar` (or `portable`, `sse4`, `avx2`, `avx512`) takes",
        "  another. `scalar` is one path after the other in plain C++: the reference that all others are tested against, to the bit.",
        "- Alias rows ask for large pages. Problems are drawn with vectorised Philox and normal quantiles.",
        "- A step of another program through its pipe ([programs.md](programs.md)) takes 1.05 times as long as a bare ping-pong of lines between two C programs, measured in one run; `make bench-parts` repeats it (`PingPong`, `ProgramStep`).",
        "",
    ]
    file.write_text("\n".join(lines))


def measure_all(programs: Path, quick: bool) -> dict[str, Any]:
    turns = 2 if quick else 5
    data: dict[str, Any] = {"machine": measure(programs, "machine")}
    data["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    data["ratios"] = measure(programs, "ratios")
    data["peer"] = measure_peer(programs, 2 if quick else 5, turns)
    data["growth"] = measure(programs, "growth")
    data["control"] = measure(programs, "control")
    data["gradient"] = measure(programs, "gradient")
    data["scaling"] = measure_scaling(programs, 4 if quick else 16, turns)
    data["memory"] = measure(programs, "memory")
    data["parts"] = measure(programs, "parts")
    data["page"] = time_page(programs)
    data["instructions"] = count_instructions(programs)
    return data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--quick", action="store_true", help="fewer turns, to try it out")
    parser.add_argument("--again", type=Path, help="write the page from a file of bench/history")
    options = parser.parse_args()
    data = (
        json.loads(options.again.read_text())
        if options.again
        else measure_all(options.bin.resolve(), options.quick)
    )
    (options.out / "figures").mkdir(parents=True, exist_ok=True)
    draw(data, options.out / "figures" / "performance.png")
    write_page(data, options.out / "performance.md")
    if options.again:
        return
    commit = re.search(r"\(([0-9a-f]+)", data["machine"]["program"])
    name = f"{data['date']}-{commit.group(1) if commit else 'unknown'}.json"
    (HERE / "history").mkdir(exist_ok=True)
    (HERE / "history" / name).write_text(json.dumps(data, indent=1) + "\n")
    print(f"performance: wrote {options.out / 'performance.md'} and {HERE / 'history' / name}")


if __name__ == "__main__":
    main()
