"""`make fuzz`: hostile input to everything that reads what others wrote.

    make fuzz                                  two minutes over all targets
    make fuzz FUZZ_SECONDS=1800 FUZZ_SEED=7    half an hour, other cases
    make fuzz FUZZ="--only zim --count 1000"   a number of cases of one target
    make fuzz FUZZ="--only zim --case 17"      one case again, in this process

Every case follows from the seed, the target's name and its number. The cases of a target run in a
process with limits of memory and, for each case, of time; when that dies or hangs, the case is
named, and the next one goes on in a new process. A case fails when its process dies by a signal,
takes too long or too much memory, or when the command shows a traceback or an internal fault, ends
with another exit code than 0 to 5, or answers JSON that is not valid against its schema.
"""

from __future__ import annotations

import argparse
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.targets import TARGETS

CASE_SECONDS = 30.0
MEMORY = 4 << 30
"""Bytes that a process of cases may allocate; its children have their own limits."""
SHOWN = 10


@dataclass
class Outcome:
    """What became of the cases of one target."""

    done: int = 0
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)


def worker(target: str, seed: int, first: int) -> None:
    """Run cases for ever, and say of each when it begins and how it ended; the parent decides."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    said = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what a case prints by itself must not look like a report
    with ExitStack() as stack:
        run = stack.enter_context(TARGETS[target]())
        number = first
        while True:
            said.write(f"begin {number}\n")
            problem = one(run, target, seed, number)
            said.write(f"end {problem}\n")
            if sys.stdin.readline() != "go\n":
                return
            number += 1


def one(run: object, target: str, seed: int, number: int) -> str:
    """Run one case; empty when it was good, else one line."""
    try:
        run(Random(f"{seed}:{target}:{number}"))  # type: ignore[operator]
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(str(error).split())[:600]
        return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {text}"
    return ""


class Worker:
    """A process that runs the cases of a target one after the other."""

    def __init__(self, target: str, seed: int, first: int) -> None:
        argv = [sys.executable, __file__, "--worker", target, "--seed", str(seed)]
        self.rest = b""
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close
        self.process = subprocess.Popen(
            [*argv, "--case", str(first)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,
        )

    def line(self, seconds: float) -> str:
        """Its next line; ``dead …`` or ``slow`` when there is none."""
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self.rest:
            ready, _, _ = select.select([descriptor], [], [], seconds)
            if not ready:
                return f"slow: not done after {seconds:.0f} s"
            piece = os.read(descriptor, 65536)
            if not piece:
                break
            self.rest += piece
        text, found, self.rest = self.rest.partition(b"\n")
        if found:
            return text.decode("utf-8", "replace")
        code = self.process.wait()
        self.errors.seek(0)
        last = self.errors.read()[-400:].decode("utf-8", "replace")
        return f"dead: exit code {code} {' '.join(last.split())}"

    def go(self) -> None:
        """Let it run the next case."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def close(self) -> None:
        """End it; what it started ends with its pipes."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            assert stream is not None
            stream.close()


def fuzz(target: str, seed: int, count: int, seconds: float) -> Outcome:
    """Run cases of one target until the count or the time is reached."""
    outcome = Outcome()
    begun = time.monotonic()
    number = 0
    while number < count and (not number or time.monotonic() - begun < seconds):
        at_work = Worker(target, seed, number)
        try:
            while True:
                line = at_work.line(CASE_SECONDS)
                problem = line.removeprefix("end ").strip()
                if line.startswith("begin "):
                    continue
                if problem != "end" and problem:
                    outcome.failed.append(f"case {number}: {problem}")
                number += 1
                outcome.done += 1
                over = number >= count or time.monotonic() - begun >= seconds
                if over or not line.startswith("end"):
                    break
                at_work.go()
        finally:
            at_work.close()
    outcome.seconds = time.monotonic() - begun
    return outcome


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the targets; 1 when a case failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=sorted(TARGETS), default=[])
    parser.add_argument("--count", type=int, default=0, help="cases a target, however long")
    parser.add_argument("--case", type=int, default=-1, help="one case, in this process")
    parser.add_argument("--worker", choices=sorted(TARGETS), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        worker(options.worker, options.seed, options.case)
        return 0
    chosen = options.only or list(TARGETS)
    if options.case >= 0:
        with TARGETS[chosen[0]]() as run:
            run(Random(f"{options.seed}:{chosen[0]}:{options.case}"))
        return 0
    print(f"fuzz: seed {options.seed}, {len(chosen)} targets")
    bad = 0
    end = time.monotonic() + options.seconds
    for place, target in enumerate(chosen):
        share = max(1.0, (end - time.monotonic()) / (len(chosen) - place))
        limit = options.count or sys.maxsize
        outcome = fuzz(target, options.seed, limit, float("inf") if options.count else share)
        bad += len(outcome.failed)
        print(
            f"  {target:<10}{outcome.done:6} cases {outcome.seconds:6.1f} s"
            f"{len(outcome.failed):5} failed",
            flush=True,
        )
        for line in outcome.failed[:SHOWN]:
            print(f"    {line}")
            number = line.split()[1].rstrip(":")
            again = f"--only {target} --case {number}"
            print(f'      again: make fuzz FUZZ_SEED={options.seed} FUZZ="{again}"', flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
