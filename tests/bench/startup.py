"""What one run of the command costs before it does anything: start-up against a bare Python.

Runs are interleaved, so that a busy moment of the machine falls on all of them alike; medians and
their ratio to `python -c pass` are printed beside the aims.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cli import SCRIPT, Cli
from support.zim import build_zim

AIMS = {"infoforge --version": 3.0, "infoforge search": 6.0}
QUESTION = "Who wrote the novel Kokoro?"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="runs of each command")
    parser.add_argument("--strict", action="store_true", help="exit 1 when an aim is missed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cli = Cli(Path(folder) / "home")
        zims = Path(folder) / "zims"
        zims.mkdir()
        text = "<p>Kokoro is a novel by Natsume Sōseki.</p>"
        build_zim(zims / "books_en_2026-06.zim", {"Kokoro": text, "Warsaw": "<p>A city.</p>"})
        cli.configure({"zims": {"folder": str(zims)}})
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "infoforge --version": [str(SCRIPT), "--version"],
            "infoforge search": [str(SCRIPT), "search", QUESTION],
        }
        env = cli.environment()
        times: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(options.runs + 1):
            for name, argv in commands.items():
                start = time.perf_counter()
                done = subprocess.run(argv, env=env, capture_output=True, check=False)
                if done.returncode:
                    sys.stderr.write(done.stderr.decode())
                    print(f"bench: {name} exited with {done.returncode}", file=sys.stderr)
                    return 1
                if turn:  # the first turn fills the caches
                    times[name].append((time.perf_counter() - start) * 1000)
    bare = statistics.median(times["python -c pass"])
    missed = False
    print(f"start-up, median of {options.runs} interleaved runs")
    for name, taken in times.items():
        ratio = statistics.median(taken) / bare
        aim = AIMS.get(name)
        outcome = ""
        if aim is not None:
            missed |= ratio > aim
            outcome = f"  aim under {aim:.0f}x: {'met' if ratio <= aim else 'missed'}"
        print(f"  {name:<22}{statistics.median(taken):7.1f} ms  {ratio:4.1f}x{outcome}")
    return 1 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
