"""simulator.py [MODE] [FILE]: a corridor of ten cells that speaks protocol 1, well or badly.

Action 1 goes right, action 0 stays; three strokes in ten go backwards. MODE is one way to break
the protocol; FILE is where modes that must remember something across processes keep it.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
FILE = sys.argv[2] if len(sys.argv) > 2 else ""
CELLS = 10
HELLO = (
    '{"hilo":1,"name":"corridor","version":"1","actions":2,"observation":{"states":10},'
    '"start":"value","seedable":true,"deterministic":false}'
)
if MODE in ("deterministic", "hidden"):
    HELLO = HELLO.replace('"deterministic":false', '"deterministic":true')


class Simulator:
    def __init__(self) -> None:
        self.dice = random.Random(0)
        self.cell = 0
        self.over = True
        self.steps = 0
        self.episodes = 0
        self.kept: list[bytes] = []

    def reset(self, seed: int, cell: int = 0) -> str:
        if MODE != "leaks-state" or self.episodes == 0:
            self.dice = random.Random(seed)
        if MODE == "same-seed-other-bits":
            self.dice = random.Random(time.monotonic_ns())
        self.episodes += 1
        if MODE == "clash":
            with open(FILE, "w") as file:
                file.write(str(seed))
        if MODE == "fails-by-seed" and seed % 3 == 0:
            sys.exit(7)
        if MODE == "fails-by-seed":
            time.sleep(0.03)
        self.cell, self.over, self.steps = cell, cell == CELLS - 1, 0
        return f"ok {int(self.over)} {self.cell}"

    def step(self, action: int) -> str:
        if self.over:
            return "error the episode is over"
        if action not in (0, 1):
            return f"error there is no action {action}"
        self.steps += 1
        self.misbehave()
        if MODE == "clash":  # what another instance wrote decides this one's luck
            with open(FILE) as file:
                self.dice.random()
                self.dice = random.Random(int(file.read() or 0) + self.steps)
        slips = self.dice.random() < 0.3
        if MODE == "deterministic":
            slips = False
        if MODE == "hidden":  # every third stroke goes wrong, but nobody sees the count
            slips = self.steps % 3 == 0
        self.cell += action * (-1 if slips else 1)
        self.cell = max(0, self.cell)
        self.over = self.cell == CELLS - 1
        reward = 1 if self.over else -0.01
        cost = " cost=2.5" if MODE == "cost" else ""
        return {
            "nan": f"ok nan 0 {self.cell}",
            "inf": f"ok 1 0 {self.cell} inf" if self.steps > 1 else f"ok inf 0 {self.cell}",
            "wrong-count": f"ok {reward} 0 {self.cell} 7",
            "outside": f"ok {reward} 0 10",
            "garbage": "what?",
            "bad-end": f"ok {reward} 3 {self.cell}",
        }.get(MODE, f"ok {reward!r} {int(self.over)} {self.cell}{cost}")

    def misbehave(self) -> None:
        if MODE == "hangs":
            time.sleep(60)
        if MODE == "crashes":
            print("about to crash", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if MODE == "exits" and self.steps == 3:
            print("no disk space", file=sys.stderr, flush=True)
            sys.exit(3)
        if MODE == "endless-line":
            while True:
                sys.stdout.write("x" * 65536)
        if MODE == "floods":
            sys.stderr.write("flood " * 100_000)
        if MODE == "stubborn":
            time.sleep(60)
        if MODE == "leaks-memory":
            self.kept.append(b"x" * 2_000_000)
        if MODE == "late":
            time.sleep(1)
        if MODE == "fatal":
            print("fatal the licence server is gone", flush=True)
            sys.exit(1)
        if MODE == "region" and self.cell == 6 and random.SystemRandom().random() < 0.2:
            print("the solver diverged", file=sys.stderr, flush=True)
            sys.exit(4)
        if MODE == "sometimes" and random.SystemRandom().random() < 0.02:
            sys.exit(5)
        if MODE == "sleeps" and self.steps == 1:
            time.sleep(0.05)
        if MODE == "shuffles" and self.steps == 1:
            time.sleep(random.SystemRandom().uniform(0, 0.03))


def serve(lines, out) -> None:
    simulator = Simulator()

    def say(text: str) -> None:
        if MODE == "twice" and text.startswith("ok -"):
            text += "\n" + text
        out.write(text + "\n")
        out.flush()

    for line in lines:
        words = line.split()
        if not words:
            continue
        if words[0] == "hello":
            say(HELLO)
        elif words[0] == "reset":
            say(simulator.reset(int(words[1])))
        elif words[0] == "start":
            say(simulator.reset(int(words[1]), int(words[2])))
        elif words[0] == "step":
            say(simulator.step(int(words[1])))
        elif words[0] == "reward" and MODE != "no-reward":
            say("ok 3" if MODE == "wrong-reward" else f"ok {1 if words[3] == '9' else -0.01}")
        elif words[0] == "quit" and MODE != "stays":
            break
        else:
            say(f"error unknown request {words[0]}")


def main() -> None:
    if MODE == "silent":
        time.sleep(60)
    if MODE == "banner":
        print("Welcome to the corridor, version 1", flush=True)
    if MODE == "comments":
        print("# Welcome to the corridor, version 1", flush=True)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for leaves_group in (False, True):
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                if leaves_group:
                    os.setsid()
                with open(FILE, "a") as file:
                    file.write(f"{os.getpid()}\n")
                time.sleep(60)
                os._exit(0)
    if MODE == "licence":
        with open(FILE, "a") as file:
            file.write("x")
        if os.path.getsize(FILE) <= 2:
            sys.exit(75)
    if MODE == "fifo":
        print("A banner, and other chatter", flush=True)
        with open(os.environ["HILO_IN"]) as lines, open(os.environ["HILO_OUT"], "w") as out:
            serve(lines, out)
        return
    serve(sys.stdin, sys.stdout)
    if MODE == "stays":
        time.sleep(30)


main()
