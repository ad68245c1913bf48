"""killed_run_test.py PROGRAM [KILLS [SECONDS]]

One long run that is killed again and again, at random moments, ends with the results of an
undisturbed one, and no kill costs more than SECONDS, the time between two checkpoints.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SPEC = """spec_version = 1
name = "long"
seeds = 1
[problem]
kind = "random-mdp"
[train]
episodes = EPISODES
[test]
every = 1000
exact_every = 5000
[[agent]]
kind = "mfmcrl"
variant = "plus"
low_rollouts = 100
"""
START = 0.5  # seconds that the program takes at most to begin: it builds the problem again


def main(program: str, kills: int, seconds: float) -> None:
    folder = Path(tempfile.mkdtemp(prefix="hilo-killed-"))
    # Long enough to be there for all kills.
    episodes = str(round(1600 * kills * seconds / 0.2))
    (folder / "long.toml").write_text(SPEC.replace("EPISODES", episodes))

    def begin(store: str) -> subprocess.Popen[bytes]:
        command = [program, "run", "long.toml", "--threads", "1", "--store", store]
        command += ["--checkpoint-every", str(seconds)]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet)

    def results(store: str) -> list[bytes]:
        out = subprocess.run([program, "export", store], cwd=folder, capture_output=True, check=True)
        return [line for line in out.stdout.splitlines() if b",seconds," not in line]

    begun = time.monotonic()
    assert begin("whole.db").wait() == 0
    whole = time.monotonic() - begun

    moments = random.Random(20261116)
    killed = 0
    begun = time.monotonic()
    for _ in range(kills):
        run = begin("killed.db")
        time.sleep(START / 2 + seconds * moments.uniform(1.5, 3.5))
        if run.poll() is None:
            run.kill()
            killed += 1
        run.wait()
    assert begin("killed.db").wait() == 0
    disturbed = time.monotonic() - begun

    assert results("killed.db") == results("whole.db"), f"other results after {killed} kills"
    left = [file.name for file in folder.iterdir() if "running" in file.name]
    assert not left, f"checkpoints are left after the end: {left}"
    # The machine may be busy: half as much again is allowed for the work itself.
    allowed = 1.5 * whole + kills * (seconds + START)
    # Few kills are for machines that do other things as well, where time says nothing.
    if kills >= 20:
        assert disturbed <= allowed, f"{disturbed:.1f} s, but at most {allowed:.1f} s were allowed"
    assert killed > kills / 2, f"only {killed} of {kills} runs were there to be killed"
    print(f"killed_run: {killed} kills, same results; {disturbed:.1f} s instead of {whole:.1f} s")
    subprocess.run(["rm", "-rf", str(folder)], check=True)


if __name__ == "__main__":
    main(
        sys.argv[1],
        int(sys.argv[2]) if len(sys.argv) > 2 else 20,
        float(sys.argv[3]) if len(sys.argv) > 3 else 0.2,
    )
