"""killed_learn_test.py PROGRAM [KILLS [SEED]]

One learn run that is killed again and again, at random moments, ends with the policy, the value and
the journal of an undisturbed one: with its checkpoint, with the checkpoint deleted after every kill,
and with it damaged. Costs that are measured, not declared, are those of a replay of the journal.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SPEC = """spec_version = 1
name = "plant"
[problem]
kind = "random-mdp"
states = 100
actions = 5
[budget]
episodes = 200
[cost]
high_step = 1
low_step = 0.001
[agent]
kind = "mfmcrl"
low_rollouts = ROLLOUTS
"""

VECTORS = """spec_version = 1
name = "swing"
[problem]
kind = "pendulum"
steps = 60
[budget]
episodes = 10
reserve = 2
[cost]
high_step = 1
low_step = 0.001
[agent]
kind = "corrected"
generations = 12
scenarios = 8
frequencies = 60
"""

GRADIENT = """spec_version = 1
name = "swing"
[problem]
kind = "pendulum"
[budget]
episodes = 62
reserve = 2
[cost]
high_step = 1
low_step = 0.001
[agent]
kind = "mfpg"
batch = 6
control = "corrected"
"""


def main(program: str, kills: int, seed: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="hilo-killed-"))
    # Long enough to be there for all kills.
    spec = SPEC.replace("ROLLOUTS", str(1000 * kills))
    (folder / "plant.toml").write_text(spec)
    declared = spec[spec.index("[cost]") : spec.index("[agent]")]
    (folder / "measured.toml").write_text(spec.replace(declared, ""))
    (folder / "vectors.toml").write_text(VECTORS)
    (folder / "gradient.toml").write_text(GRADIENT)

    def begin(name: str) -> subprocess.Popen[bytes]:
        kind = name.split("-")[0]
        file = f"{kind}.toml" if kind in ("measured", "vectors", "gradient") else "plant.toml"
        command = [program, "learn", file, "--journal", f"{name}.journal", "--json"]
        command += ["--policy", f"{name}.json", "--checkpoint-every", "0.05"]
        with open(folder / f"{name}.out", "wb") as out:
            return subprocess.Popen(
                command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True
            )

    def results(name: str) -> tuple[bytes, bytes, bytes]:
        export = [program, "journal", "export", f"{name}.journal"]
        journal = subprocess.run(export, cwd=folder, capture_output=True, check=True).stdout
        last = (folder / f"{name}.out").read_bytes().splitlines()[-1]
        value = last[last.rindex(b'"value":{') :]
        return (folder / f"{name}.json").read_bytes(), journal, value

    def bill(name: str) -> list[object]:
        said = json.loads((folder / f"{name}.out").read_bytes().splitlines()[-1])["bill"]
        return [said[key] for key in ("episodes", "steps", "low_steps", "cost", "high_cost")]

    moments = random.Random(seed)
    for harm in ("none", "deleted", "damaged", "measured", "vectors", "vectors-deleted", "gradient"):
        kind = harm.split("-")[0]
        undisturbed = f"{kind}-whole" if kind in ("vectors", "gradient") else "whole"
        if not (folder / f"{undisturbed}.out").exists():
            begun = time.monotonic()
            assert begin(undisturbed).wait() == 0
            whole = time.monotonic() - begun
            expected = results(undisturbed)
        killed = 0
        for _ in range(kills):
            run = begin(harm)
            time.sleep(0.03 + moments.uniform(0, whole / kills))
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                killed += 1
            run.wait()
            checkpoint = folder / f"{harm}.journal.checkpoint"
            if checkpoint.exists() and harm.endswith("deleted"):
                checkpoint.unlink()
            if checkpoint.exists() and harm == "damaged":
                harmed = bytearray(checkpoint.read_bytes())
                harmed[moments.randrange(len(harmed))] ^= 1
                checkpoint.write_bytes(harmed)
        assert begin(harm).wait() == 0
        if harm == "measured":
            # The policy and its value do not depend on costs. The costs are those of the journal.
            for file in ("measured.journal", "measured.out"):
                (folder / f"measured-before.{file[9:]}").write_bytes((folder / file).read_bytes())
            (folder / "measured.journal.checkpoint").unlink(missing_ok=True)
            assert begin(harm).wait() == 0
            assert bill("measured") == bill("measured-before")
        assert results(harm) == expected, f"other results after {killed} kills, checkpoint: {harm}"
        assert killed > kills / 2, f"only {killed} of {kills} runs were there to be killed"
        print(f"killed_learn: {killed} kills, same results; checkpoint: {harm}")
    subprocess.run(["rm", "-rf", str(folder)], check=True)


if __name__ == "__main__":
    main(
        os.path.abspath(sys.argv[1]),
        int(sys.argv[2]) if len(sys.argv) > 2 else 30,
        int(sys.argv[3]) if len(sys.argv) > 3 else 20261116,
    )
