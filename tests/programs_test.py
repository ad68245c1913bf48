"""programs_test.py HILO SIMULATOR [KILLS [HILO_WITH_MPI]]

Programs as simulators of one `hilo learn`: Ctrl-C and kills leave no process behind, every way to
misbehave is contained and in the journal, and workers change the time and nothing else.
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

HILO, SIMULATOR = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 6
HILO_MPI = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
FOLDER = Path(tempfile.mkdtemp(prefix="hilo-programs-"))
MARK = f"{SIMULATOR}"

LAUNCHER = [HILO]


def spec(name: str, mode: str, *, lag: int = 1, workers: int = 1, episodes: int = 30, more: str = "") -> None:
    (FOLDER / f"{name}.toml").write_text(
        f"""spec_version = 1
name = "{name}"
agent = "q-learning"
[problem]
kind = "program"
[problem.high]
command = "/usr/bin/python3 {SIMULATOR} {mode}"
workers = {workers}
timeout_step = 5
{more}
[train]
gamma = 0.9
max_steps = 60
lag = {lag}
[budget]
episodes = {episodes}
[cost]
high_episode = 5
high_step = 1
"""
    )


def begin(name: str, *more: str) -> subprocess.Popen[bytes]:
    command = [*LAUNCHER, "learn", f"{name}.toml", "--json", "--checkpoint-every", "0.05", *more]
    with open(FOLDER / f"{name}.out", "wb") as out, open(FOLDER / f"{name}.err", "wb") as err:
        return subprocess.Popen(command, cwd=FOLDER, stdout=out, stderr=err, start_new_session=True)


def learn(name: str) -> int:
    return begin(name).wait()


def children() -> list[str]:
    """Processes of the simulator that are left."""
    found = subprocess.run(["pgrep", "-f", MARK], capture_output=True, text=True).stdout.split()
    return [pid for pid in found if int(pid) != os.getpid()]


def wait_until_gone(seconds: float) -> float:
    begun = time.monotonic()
    while children() and time.monotonic() - begun < seconds:
        time.sleep(0.02)
    assert not children(), f"left behind: {children()}"
    return time.monotonic() - begun


def results(name: str) -> tuple[object, ...]:
    last = json.loads((FOLDER / f"{name}.out").read_bytes().splitlines()[-1])
    policy = json.loads((FOLDER / f"{name}.policy.json").read_text())
    bill = last["bill"]
    return (policy["values"], last["value"], [bill[k] for k in ("episodes", "steps", "cost")])


def attempts(name: str) -> list[str]:
    export = [HILO, "journal", "export", f"{name}.journal"]
    text = subprocess.run(export, cwd=FOLDER, capture_output=True, text=True, check=True).stdout
    return text.splitlines()[1:]


def test_interrupts() -> None:
    spec("hangs", "hangs", more="retries = 0")
    (FOLDER / "hangs.toml").write_text((FOLDER / "hangs.toml").read_text().replace("timeout_step = 5", ""))
    for how, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
        run = begin("hangs")
        time.sleep(1.2)
        assert children()
        begun = time.monotonic()
        run.send_signal(how)
        assert run.wait() == code, (how, run.returncode, (FOLDER / "hangs.err").read_text())
        wait_until_gone(2)
        took = time.monotonic() - begun
        assert took < 2, f"{how}: {took:.1f} s"
    print("programs: interrupted and killed inside a step of 60 s, nothing left behind")


def test_misbehaviour() -> None:
    modes = {
        "nan": "nan as its reward",
        "crashes": "signal 11",
        "garbage": "does not start with ok",
        "wrong-count": "has 2 numbers as its observation",
        "endless-line": "more than 1 MB",
        "exits": "no disk space",
        "hangs": "did not answer within 0.5 s",
        "stubborn": "did not answer within 0.5 s",
    }
    for mode, words in modes.items():
        name = f"bad-{mode}"
        spec(name, f"{mode} {FOLDER}/{mode}.file", more="retries = 1")
        text = (FOLDER / f"{name}.toml").read_text().replace("timeout_step = 5", "timeout_step = 0.5")
        (FOLDER / f"{name}.toml").write_text(text)
        assert learn(name) == 6, mode
        said = (FOLDER / f"{name}.err").read_text()
        assert words in said and "goes on" in said, said
        wait_until_gone(2)
        # Three episodes in a row, each tried twice, and nothing else.
        failed = {tuple(a.split(",")[:5]) for a in attempts(name) if ",failed," in a}
        assert len(failed) == 6, attempts(name)
        listed = json.loads(
            subprocess.run(
                [HILO, "journal", "list", f"{name}.journal", "--json"],
                cwd=FOLDER,
                capture_output=True,
                check=True,
            ).stdout
        )[0]
        assert listed["failed"] == 6 and listed["cost"] >= 30, listed
        assert not (FOLDER / f"{name}.policy.json").exists()
    for mode, words in (("silent", "did not answer within 1 s"), ("banner", "Welcome to the corridor")):
        spec(mode, mode, more="timeout_start = 1")
        assert learn(mode) == 6
        assert words in (FOLDER / f"{mode}.err").read_text()
        wait_until_gone(2)
        assert not attempts(mode) if (FOLDER / f"{mode}.journal").exists() else True
    print(f"programs: {len(modes) + 2} ways to misbehave contained, attempts and costs in the journal")


def test_region() -> None:
    spec("region", "region", episodes=60, more="retries = 0")
    code = learn("region")
    while code == 6:  # three in a row that failed: the same command goes on
        code = learn("region")
    assert code == 0
    last = json.loads((FOLDER / "region.out").read_bytes().splitlines()[-1])
    assert any("failures are not spread evenly" in note for note in last["notes"]), last["notes"]
    assert "Where attempts failed" in (FOLDER / "region.html").read_text()
    print("programs: failures in one region of the states are reported")


def test_workers() -> None:
    for workers in (1, 4):
        spec(f"sleeps-{workers}", "sleeps", lag=4, workers=workers, episodes=100)
    times = {}
    for workers in (1, 4):
        begun = time.monotonic()
        assert learn(f"sleeps-{workers}") == 0
        times[workers] = time.monotonic() - begun
    assert results("sleeps-1") == results("sleeps-4")
    print(f"programs: 4 workers, same results, {times[1] / times[4]:.2f} times as fast as one")
    assert times[1] / times[4] > 2.5, times  # 3.5 on an idle machine: see docs/performance.md


def test_kills() -> None:
    spec("whole", "shuffles", lag=4, workers=1, episodes=80 * KILLS)
    assert learn("whole") == 0
    spec("killed", "shuffles", lag=4, workers=4, episodes=80 * KILLS)
    moments = random.Random(5)
    killed = 0
    for _ in range(KILLS):
        run = begin("killed")
        time.sleep(0.2 + moments.uniform(0, 0.25))
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            killed += 1
        run.wait()
        wait_until_gone(3)
    assert learn("killed") == 0
    assert results("killed") == results("whole")
    assert killed > KILLS / 3, f"only {killed} of {KILLS} runs were there to be killed"
    print(f"programs: {killed} kills with four episodes in flight, same results")


def test_ranks() -> None:
    """Three ranks, with as many instances as each says, give what one process gives."""
    global LAUNCHER
    spec("one-rank", "shuffles", lag=4, workers=1, episodes=200, more="restart_every = 40")
    assert learn("one-rank") == 0
    LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", HILO_MPI]
    for workers in (1, 2):
        name = f"ranks-{workers}"
        folder = f'directory = "{FOLDER}/{name}-{{worker}}"'
        spec(name, "shuffles", lag=4, workers=workers, episodes=200, more=f"{folder}\nrestart_every = 40")
        assert learn(name) == 0, (FOLDER / f"{name}.err").read_text()
        assert results(name) == results("one-rank")
        made = len(list(FOLDER.glob(f"{name}-*[0-9]")))
        # Instances have numbers of their own on every rank, and are started when they are needed.
        assert 3 <= made <= 3 * workers, f"{made} folders"
        wait_until_gone(3)
    spec("killed-ranks", "shuffles", lag=4, workers=1, episodes=200, more="restart_every = 40")
    run = begin("killed-ranks")
    time.sleep(2)
    run.send_signal(signal.SIGINT)
    assert run.wait() != 0
    wait_until_gone(3)
    done = len(attempts("killed-ranks"))
    assert done > 0
    assert learn("killed-ranks") == 0
    assert results("killed-ranks") == results("one-rank")
    spec("no-lag", "shuffles")
    assert learn("no-lag") == 2
    assert "train.lag is 1" in (FOLDER / "no-lag.err").read_text()
    LAUNCHER = [HILO]
    print(f"programs: three ranks, same results, also after an interrupt with {done} steps in the journal")


if __name__ == "__main__":
    test_interrupts()
    test_misbehaviour()
    test_region()
    test_workers()
    test_kills()
    if HILO_MPI:
        test_ranks()
    subprocess.run(["rm", "-rf", str(FOLDER)], check=True)
