"""Verification on statements of real articles with one part exchanged (``make eval-claims``).

The articles are split in two by their titles: one half may be looked at (``--show``), the other is
only counted, so that a rule made for the first shows in the second.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import defaultdict
from pathlib import Path

from infoforge.records import Source
from infoforge.verification import verify

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "claims"
AIMS = {"name": 95.0, "number": 98.0, "name_same_passage": 75.0, "number_same_passage": 75.0}
FALSE_ALARMS = 2.0


def held_out(title: str) -> bool:
    return zlib.crc32(title.encode()) % 2 == 1


def caught(row: dict) -> bool:
    source = Source(
        1, row["source"]["title"], "zim://a", "wiki", "a", "", row["lang"], row["source"]["text"]
    )
    result = verify(row["claim"], (source,), row["question"], row["lang"])
    return not result.strict and not result.refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="wrong verdicts of the open half")
    given = parser.parse_args()
    files = given.files or sorted(DATA.glob("*_claims.jsonl"))
    if not files:
        print(f"eval-claims: skipped, no files in {DATA}")
        return 0
    missed = False
    for file in files:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        counts: dict[tuple[str, bool, bool], list[bool]] = defaultdict(list)
        shown = 0
        for row in rows:
            found = caught(row)
            half = held_out(row["source"]["title"])
            counts[row["kind"], row["supported"], half].append(found)
            counts[f"{row['kind']}/{row['form']}", row["supported"], half].append(found)
            if found == row["supported"] and not half and shown < given.show:
                shown += 1
                print(f"  {'false alarm' if found else 'missed'} {row['kind']} {row['form']}: ")
                print(f"    {row['claim']}\n    question: {row['question']}")
        print(file.stem)
        alarms = [v for (k, s, _), vs in counts.items() if s and "/" not in k for v in vs]
        rate = 100 * sum(alarms) / max(1, len(alarms))
        missed |= rate > FALSE_ALARMS
        print(f"  false alarms {rate:.1f} % of {len(alarms)}")
        for kind in sorted({k for k, s, _ in counts if not s}):
            halves = [counts.get((kind, False, half), []) for half in (False, True)]
            total = [v for half in halves for v in half]
            shares = [f"{100 * sum(h) / len(h):.1f}" if h else "-" for h in halves]
            share = 100 * sum(total) / len(total)
            missed |= kind in AIMS and share < AIMS[kind]
            print(f"  {kind:28} caught {share:5.1f} % of {len(total)} (open {shares[0]},"
                  f" held out {shares[1]})")  # fmt: skip
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
