"""Verification on answers in the style of models: 150 right, each also wrong in one point.

``answers.jsonl`` was written by hand from short passages (``answer_sources.json``): paraphrases,
summaries of two sources, tables, lists, translations, refusals. In a wrong one ``right`` was
exchanged for ``wrong``. Added and removed negations and changed units are made by a program, from
sentences of the same passages and of the shared articles.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

from infoforge.records import Source
from infoforge.text.sentences import sentences
from infoforge.verification import verify

HERE = Path(__file__).resolve().parent
CLAIMS = Path(__file__).resolve().parents[3] / "shared" / "data" / "claims"
AIMS = {"false alarms": 5.0, "caught": 85.0, "generated": 80.0}

_VERBS = {
    "en": (r"\b(is|was|are|were|has been|had been|can|could|will|would)\b(?! not)", r"\1 not"),
    "de": (r"\b(ist|war|sind|waren|wurde|wurden|kann|konnte)\b(?! nicht)", r"\1 nicht"),
    "es": (r"(?<!no )\b(es|fue|son|fueron|está|era|eran|tiene|puede)\b", r"no \1"),
}
_NEGATED = {
    "en": (r"\b(is|was|are|were|has|had|did|does|do|could|can|would) not\b", r"\1"),
    "de": (r"\bnicht ", ""),
    "es": (r"\b[Nn]o (?=(?:es|fue|son|fueron|se|está|era|había|han?|tienen?|pued\w+)\b)", ""),
}
_UNITS = (
    ("km", "miles"), ("kilometers", "miles"), ("kilometres", "miles"), ("miles", "kilometres"),
    ("metres", "kilometres"), ("meters", "miles"), ("m", "km"), ("kg", "t"), ("tonnes", "kg"),
    ("feet", "metres"), ("ft", "m"), ("%", "‰"), ("percent", "per mille"), ("mg", "g"),
    ("Kilometer", "Meilen"), ("Meter", "Kilometer"), ("kilómetros", "millas"),
    ("metros", "kilómetros"),
    ("acres", "hectares"), ("°C", "°F"), ("years", "months"), ("Jahre", "Monate"),
    ("años", "meses"),
    ("hours", "minutes"), ("days", "weeks"), ("pounds", "kilograms"),
)  # fmt: skip


def passages() -> list[Source]:
    """Every passage there is: our own, and those of the shared claims."""
    own = json.loads((HERE / "answer_sources.json").read_text("utf-8"))
    found = [_source(1, row) for row in own.values()]
    for file in sorted(CLAIMS.glob("*_claims.jsonl")):
        texts = {}
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            texts.setdefault(row["source"]["text"], (row["source"]["title"], row["lang"]))
        found += [
            _source(1, {"title": title, "text": text, "language": language})
            for text, (title, language) in texts.items()
        ]
    return found


def _source(number: int, row: dict) -> Source:
    return Source(
        number, row["title"], f"zim://{number}", "w", str(number), "", row["language"], row["text"]
    )


def generated(kind: str, most: int = 200) -> list[tuple[Source, str, str]]:
    """Sentences of passages with a negation added or removed, or a unit changed."""
    found = []
    for source in passages():
        for sentence in sentences(source.text):
            if len(sentence.split()) < 5 or source.language not in _VERBS:
                continue
            changed = _changed(kind, sentence, source.language)
            if changed and changed != sentence:
                found.append((source, sentence, changed))
    # Spread over all passages.
    step = max(1, len(found) // most)
    return found[::step][:most]


def _changed(kind: str, sentence: str, language: str) -> str:
    if kind == "unit":
        for old, new in _UNITS:
            pattern = rf"(\d[ \u00a0-]?){re.escape(old)}(?!\w)"
            if re.search(pattern, sentence):
                return re.sub(pattern, rf"\g<1>{new}", sentence, count=1)
        return ""
    pattern, by = (_VERBS if kind == "negation added" else _NEGATED)[language]
    if kind == "negation added" and re.search(r"\b(not|nicht|no|kein\w*|never|nie)\b", sentence):
        return ""
    return re.sub(pattern, by, sentence, count=1)


def _share(verdicts: list[bool]) -> float:
    return 100 * sum(verdicts) / len(verdicts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=0)
    given = parser.parse_args()
    own = json.loads((HERE / "answer_sources.json").read_text("utf-8"))
    rows = [json.loads(line) for line in (HERE / "answers.jsonl").read_text("utf-8").splitlines()]
    alarms: dict[str, list[bool]] = defaultdict(list)
    caught: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        sources = [_source(n, own[key]) for n, key in enumerate(row["sources"], 1)]
        wrong = row["answer"].replace(row["right"], row["wrong"], 1)
        for answer, table, bad in ((row["answer"], alarms, False), (wrong, caught, True)):
            result = verify(answer, sources, row["question"], row["language"])
            table[row["kind"]].append(not result.strict)
            if result.strict == bad and given.show > 0:
                given.show -= 1
                parts = [(p.text, p.kind) for c in result.claims for p in c.unsupported]
                print(f"  {'missed' if bad else 'false alarm'} {row['id']}: {answer!r} {parts}")
    ok = True
    for name, table in (("false alarms", alarms), ("caught", caught)):
        for kind, verdicts in sorted(table.items()):
            print(f"{name:13} {kind:12} {_share(verdicts):5.1f} % of {len(verdicts)}")
        every = [v for verdicts in table.values() for v in verdicts]
        share = 100 * sum(every) / len(every)
        ok &= share <= AIMS[name] if name == "false alarms" else share >= AIMS[name]
        print(f"{name:13} all          {share:5.1f} % of {len(every)}")
    for kind in ("negation added", "negation removed", "unit"):
        made = generated(kind)
        verdicts = []
        for source, _, changed in made:
            verdicts.append(not verify(f"{changed} [1]", (source,)).strict)
            if not verdicts[-1] and given.show > 0:
                given.show -= 1
                print(f"  missed {kind}: {changed}")
        share = 100 * sum(verdicts) / max(1, len(verdicts))
        ok &= share >= AIMS["generated"]
        print(f"caught        {kind:16} {share:5.1f} % of {len(verdicts)}")
    return int(not ok)


if __name__ == "__main__":
    sys.exit(main())
