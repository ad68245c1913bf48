"""Compares the speed of two commits: the one that is checked out, as built, and another one.

    python bench/compare.py BASE [--bin build/release/bin]

Builds the program of BASE in build/compare/, runs the same study with both in turns, and counts
instructions of both under callgrind. Also says whether their results are the same.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "bench" / "specs" / "study.toml"


def run(command: list[str | Path], **more: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)  # type: ignore[call-overload]
    if done.returncode != 0:
        sys.exit(f"compare: {' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    return str(done.stdout)


def build(base: str) -> Path:
    commit = run(["git", "rev-parse", "--short=12", base], cwd=ROOT).strip()
    folder = ROOT / "build" / "compare" / commit
    if not (folder / "source").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run(["git", "worktree", "add", "--detach", folder / "source", commit], cwd=ROOT)
    print(f"compare: building {commit}", file=sys.stderr)
    run(
        [
            "cmake",
            "-S",
            folder / "source",
            "-B",
            folder / "build",
            "-G",
            "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DHILO_BUILD_TESTS=OFF",
            "-DHILO_BUILD_EXAMPLES=OFF",
        ]
    )
    run(["cmake", "--build", folder / "build", "--target", "hilo_cli"])
    return folder / "build" / "bin" / "hilo"


def results(program: Path, episodes: int, seeds: int) -> tuple[float, str]:
    """Seconds of training, and all results but these."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "study.db"
        run(
            [
                program,
                "run",
                SPEC,
                "--seeds",
                str(seeds),
                "--threads",
                "1",
                "--set",
                f"train.episodes={episodes}",
                "--store",
                store,
            ]
        )
        rows = list(csv.DictReader(io.StringIO(run([program, "export", store]))))
    seconds = sum(float(r["value"]) for r in rows if r["metric"] == "seconds")
    rest = "\n".join(",".join(r.values()) for r in rows if r["metric"] != "seconds")
    return seconds, rest


def instructions(program: Path) -> int | None:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/out",
                str(program),
                "run",
                str(SPEC),
                "--seeds",
                "1",
                "--threads",
                "1",
                "--set",
                "train.episodes=200",
                "--store",
                f"{folder}/study.db",
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "HILO_SIMD": "avx2"},
            check=False,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found.group(1)) if found and done.returncode == 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", help="commit to compare with")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    ours = options.bin / "hilo"
    base = build(options.base)
    ratios = []
    same = True
    for turn in range(options.turns):
        order = [ours, base] if turn % 2 == 0 else [base, ours]
        measured = {program: results(program, 2000, 2) for program in order}
        ratios.append(measured[base][0] / measured[ours][0])
        same = same and measured[base][1] == measured[ours][1]
    print(
        f"training: {statistics.median(ratios):.2f} times as fast as {options.base} "
        f"(median of {options.turns} turns, {min(ratios):.2f} to {max(ratios):.2f})"
    )
    counts = instructions(base), instructions(ours)
    if counts[0] and counts[1]:
        print(
            f"instructions of a short run: {counts[0]:,} before, {counts[1]:,} now "
            f"({counts[1] / counts[0]:.2f})"
        )
    else:
        print("instructions: valgrind did not run")
    print("results: the same" if same else "results: NOT the same")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
