"""`make eval`: how often retrieval finds the article and the answer, beside what others reach.

Both corpora (libzim in this process, a real kiwix-serve 3.7) on the sets of ``../shared/data``;
then the same questions written otherwise, questions about nothing, questions that the articles do
not answer, and ambiguous titles.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.kiwix import REPO, Kiwix, Unavailable, command

from eval import ambiguous, nonsense, variants
from infoforge.ask import Options
from infoforge.config.settings import KiwixSettings, Settings, ZimSettings
from infoforge.corpus.base import Corpus, Deadline
from infoforge.corpus.opened import open_corpora
from infoforge.evaluate import compare, questions, report
from infoforge.evaluate.questions import Question
from infoforge.evaluate.run import EvalOptions, Row, run

DATA = REPO.parent / "shared" / "data"
BAR = json.loads(Path(__file__).with_name("bar.json").read_text(encoding="utf-8"))
SETS = {
    "en_squad": "wikipedia_en_squad_2026-06.zim",
    "en_xquad": "wikipedia_en_xquad_2026-06.zim",
    "de_xquad": "wikipedia_de_xquad_2026-06.zim",
    "es_xquad": "wikipedia_es_xquad_2026-06.zim",
    "zh_xquad": "wikipedia_zh_xquad_2026-06.zim",
    "tr_xquad": "wikipedia_tr_xquad_2026-06.zim",
    "ar_xquad": "wikipedia_ar_xquad_2026-06.zim",
}
PARTS = ("sets", "variants", "nonsense", "unanswerable", "ambiguous")
NONSENSE = 300
UNKNOWN = "xx"
"""A language code that stands for none: no word list, no stemmer."""


class Bench:
    """One run: the corpora it opens, the verdicts it gathers.

    Args:
        count: Questions a set.
        seed: Seed of the samples.
        kinds: ``zim``, ``kiwix`` or both.
        stack: Closes the servers.
    """

    def __init__(self, count: int, seed: int, kinds: Sequence[str], stack: ExitStack) -> None:
        self.count = count
        self.seed = seed
        self.kinds = kinds
        self.stack = stack
        self.opened: dict[tuple[Path, str], list[Corpus]] = {}
        self.met: list[str] = []
        self.missed: list[str] = []
        self.reports: dict[str, list[Row]] = {}

    def corpora(self, zim: Path, kind: str) -> list[Corpus]:
        """The ZIM as a run of the command would open it."""
        if (zim, kind) not in self.opened:
            url = self.stack.enter_context(Kiwix("3.7", [zim])).url if kind == "kiwix" else ""
            settings = Settings(
                zims=ZimSettings(folder=zim.parent, enabled=(zim.name,)), kiwix=KiwixSettings(url)
            )
            found = open_corpora(settings, _complain, deadline=Deadline(10))
            if [corpus.describe().kind for corpus in found] != [kind]:
                raise SystemExit(f"eval: {zim.name} did not open as {kind}")
            self.opened[zim, kind] = found
        return self.opened[zim, kind]

    def rows(
        self,
        label: str,
        asked: Sequence[Question],
        zim: Path,
        kind: str,
        *,
        characters: int = 6000,
        curve: tuple[int, ...] = (),
        language: str = "",
    ) -> list[Row]:
        """Ask the questions; the rows are kept for ``--json``."""
        plan = EvalOptions(
            Settings(), Options(characters=characters, language=language, deadline=30), curve=curve
        )
        corpora = self.corpora(zim, kind)
        run(asked[:1], corpora, plan)  # imports and word lists are the start-up's cost
        rows = run(asked, corpora, plan)
        self.reports[label] = rows
        return rows

    def sample(self, name: str) -> list[Question]:
        """A seeded sample of a set."""
        every = questions.load(DATA / "questions" / f"{name}.jsonl")
        return questions.sample(every, min(self.count, len(every)), self.seed)

    def check(self, name: str, value: float | None, limit: float, *, least: bool) -> str:
        """Hold a figure against its aim; a mark for the table."""
        good = value is not None and (value >= limit if least else value <= limit)
        shown = "-" if value is None else f"{value:.1f}"
        (self.met if good else self.missed).append(f"{name}: {shown} (aim {limit:g})")
        return " " if good else "!"


def _complain(warning: Any) -> None:
    raise SystemExit(f"eval: {warning.code}: {warning.message}")


def sets(bench: Bench) -> None:
    """Every set on both corpora, beside the bar."""
    print(
        f"\n{'set':<10}{'corpus':<8}{'hit@1':>7} {'hit@3':>7} {'hit@5':>7} {'empty':>6} "
        f"{'answer @ characters':>34}  {'searches':>8} {'requests':>8} {'p50 ms':>8}{'p95 ms':>8}"
    )
    for name, file in SETS.items():
        aims = BAR["aims"][name]
        sizes = tuple(int(size) for size in aims["answer"])
        asked = bench.sample(name)
        tops: dict[str, list[list[str]]] = {}
        for kind in bench.kinds:
            rows = bench.rows(
                f"{name}-{kind}",
                asked,
                DATA / "zims" / file,
                kind,
                characters=sizes[0],
                curve=sizes,
            )
            _show_set(bench, name, kind, rows)
            tops[kind] = [[item["path"] for item in row["found"][:5]] for row in rows]
        if len(tops) > 1:
            same = sum(a == b for a, b in zip(*tops.values(), strict=True))
            print(f"{'':18}the same five articles from both: {same} of {len(asked)}")
        _show_bar(name)


def _show_set(bench: Bench, name: str, kind: str, rows: list[Row]) -> None:
    aims, limits = BAR["aims"][name], BAR["limits"]
    figures = report.summary(rows)
    where = f"{name} {kind}"
    one = bench.check(f"{where} hit@1", figures["hit1"], aims["hit1"], least=True)
    five = bench.check(f"{where} hit@5", figures["hit5"], aims["hit5"], least=True)
    none = bench.check(f"{where} empty", figures["empty"], limits["empty"], least=False)
    held = []
    for (size, least), (used, share) in zip(
        sorted(aims["answer"].items(), key=lambda item: int(item[0])),
        report.curve(rows),
        strict=True,
    ):
        mark = bench.check(f"{where} answer within {size}", share, least, least=True)
        held.append(f"{share:.1f}{mark}@ {used:,.0f}")
    searched, asked = figures["searches"]["median"], figures["requests"]["median"]
    s = bench.check(f"{where} searches", searched, limits["searches"], least=False)
    r = bench.check(f"{where} requests", asked, limits["requests"], least=False)
    times = figures["milliseconds"]["total"]
    t = " "
    if (name, kind) == ("en_squad", "zim"):
        t = bench.check(f"{where} p50 ms", times["p50"], limits["p50"], least=False)
    print(
        f"{name:<10}{kind:<8}{figures['hit1']:7.1f}{one}{figures['hit3']:7.1f} "
        f"{figures['hit5']:7.1f}{five}{figures['empty']:6.1f}{none}{'   '.join(held):>34}  "
        f"{searched:8g}{s}{asked:8g}{r}{times['p50']:8.1f}{t}{times['p95']:7.1f}",
        flush=True,
    )


def _show_bar(name: str) -> None:
    for peer in BAR["peers"]:
        row = peer.get(name)
        if row is None:
            continue
        answer = ""
        if "answer" in row:
            size = f" @ {row['characters']:,}" if "characters" in row else ""
            answer = f"{row['answer']:.1f} {size}"
        times = f"{row['p50']:8g} {row['p95']:7g}" if "p50" in row else ""
        print(
            f"  {peer['name']:<28}".ljust(18)[:32].ljust(18)
            + f"{_cell(row, 'hit1'):>7}         {_cell(row, 'hit5'):>7} {_cell(row, 'empty'):>6} "
            f"{answer:>34}  {'':17} {times}".rstrip()
        )
    best = BAR["best"].get(name)
    if best:
        told = f", hit@1 {best['hit1']}" if "hit1" in best else ""
        print(f"  best of what was tried: hit@5 {best['hit5']}{told} ({best['by']})")


def _cell(row: dict[str, Any], key: str) -> str:
    return f"{row[key]:.1f}" if key in row else "-"


def written_otherwise(bench: Bench) -> None:
    """Lower case, upper case, typos, a language that is not known: what each loses."""
    limits = BAR["limits"]
    print("\nwritten otherwise (zim): hit@5 before -> after, loss in points, McNemar's p")
    for name in ("en_squad", "de_xquad", "es_xquad"):
        zim = DATA / "zims" / SETS[name]
        base = bench.sample(name)
        plain = {row["id"]: row for row in bench.rows(f"{name}-plain", base, zim, "zim")}
        kinds: list[tuple[str, Callable[[Question], Question | None], str]] = [
            ("lower", variants.lower, ""),
            ("upper", variants.upper, ""),
            ("typo", variants.typo, ""),
        ]
        if name == "en_squad":
            kinds.append(("neutral", lambda question: question, UNKNOWN))
        for kind, change, language in kinds:
            if kind == "typo" and name == "de_xquad":
                continue  # every noun has a capital: a name cannot be told by it
            asked = [other for question in base if (other := change(question)) is not None]
            rows = bench.rows(f"{name}-{kind}", asked, zim, "zim", language=language)
            before = [0 < plain[row["id"]]["rank"] <= 5 for row in rows]
            after = [0 < row["rank"] <= 5 for row in rows]
            first = 100 * (sum(before) - sum(after)) / len(rows)
            lost = sum(a and not b for a, b in zip(before, after, strict=True))
            won = sum(b and not a for a, b in zip(before, after, strict=True))
            mark = bench.check(f"{name} {kind} loss", first, limits[kind], least=False)
            print(
                f"  {name:<10}{kind:<9}{len(rows):4} questions  {report.percent(before):5.1f} -> "
                f"{report.percent(after):5.1f}  {first:+5.1f}{mark} p "
                f"{compare.mcnemar(lost, won):.3f}",
                flush=True,
            )


def about_nothing(bench: Bench) -> None:
    """Nonsense: how often nothing is found, as it should be."""
    print("\nnonsense: nothing found (exit 3), as it should be")
    each = min(bench.count, NONSENSE // len(nonsense.LANGUAGES))
    zims = {code: "en_squad" if code == "en" else f"{code}_xquad" for code in nonsense.LANGUAGES}
    for kind in bench.kinds:
        refused: list[bool] = []
        told = []
        wrong: list[str] = []
        for language in nonsense.LANGUAGES:
            zim = DATA / "zims" / SETS[zims[language]]
            asked = [
                Question(row["id"], row["question"], (), (), language)
                for row in nonsense.questions(language, each, bench.seed, zim)
            ]
            rows = bench.rows(f"nonsense-{language}-{kind}", asked, zim, kind)
            own = [row["empty"] for row in rows]
            refused += own
            told.append(f"{language} {report.percent(own):.1f}")
            wrong += [row["question"] for row in rows if not row["empty"]]
        value = report.percent(refused)
        mark = bench.check(f"nonsense {kind}", value, BAR["limits"]["nonsense"], least=True)
        print(f"  {kind:<6}{value:5.1f}{mark} of {len(refused)}: {', '.join(told)}", flush=True)
        for text in wrong[:5]:
            print(f"         answered: {text}")


def without_answer(bench: Bench) -> None:
    """Questions that look answerable and are not: the articles are there, so most are lookup up."""
    asked = bench.sample("en_unanswerable")
    rows = bench.rows("unanswerable", asked, DATA / "zims" / SETS["en_squad"], "zim")
    figures = report.summary(rows)
    print(
        f"\nunanswerable (for information: the model must say so): nothing found "
        f"{figures['empty']:.1f}, right article among five {figures['hit5']:.1f} of {len(rows)}"
    )


def ambiguous_titles(bench: Bench) -> None:
    """Novel, film, river or band: the right one first."""
    folder = Path(bench.stack.enter_context(tempfile.TemporaryDirectory()))
    zim = folder / f"{ambiguous.NAME}_2026-06.zim"
    asked = [
        Question(row["id"], row["question"], (row["title"],), tuple(row["answers"]), "en")
        for row in ambiguous.build(zim)
    ]
    names = len({fact.group for fact in ambiguous.facts()})
    print(f"\nambiguous titles: {names} names, {len(asked)} questions, right article first")
    for kind in bench.kinds:
        rows = bench.rows(f"ambiguous-{kind}", asked, zim, kind)
        figures = report.summary(rows)
        mark = bench.check(
            f"ambiguous {kind}", figures["hit1"], BAR["limits"]["ambiguous"], least=True
        )
        print(
            f"  {kind:<6}{figures['hit1']:5.1f}{mark} hit@5 {figures['hit5']:.1f}, empty "
            f"{figures['empty']:.1f}, answer in context {figures['answer_in_context']:.1f}",
            flush=True,
        )


def main() -> int:
    """Run what was asked for; 0 unless ``--strict`` and an aim was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="questions a set")
    parser.add_argument("--seed", type=int, default=7, help="seed of the samples")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part (repeatable)")
    parser.add_argument("--corpus", action="append", choices=("zim", "kiwix"))
    parser.add_argument("--json", type=Path, help="write every row, for eval --compare")
    parser.add_argument("--strict", action="store_true", help="exit 1 when an aim was missed")
    options = parser.parse_args()
    if not DATA.is_dir():
        print("eval: skipped: no ../shared/data beside the repository")
        return 0
    kinds = options.corpus or ["zim", "kiwix"]
    if "kiwix" in kinds:
        try:
            command("3.7")
        except Unavailable as reason:
            print(f"eval: kiwix left out: {reason}")
            kinds.remove("kiwix")
    started = time.monotonic()
    steps = dict(
        zip(
            PARTS,
            (sets, written_otherwise, about_nothing, without_answer, ambiguous_titles),
            strict=True,
        )
    )
    with ExitStack() as stack:
        bench = Bench(options.count, options.seed, kinds, stack)
        random.seed(options.seed)
        print(f"{options.count} questions a set, seed {options.seed}; ! marks a missed aim")
        for part in PARTS:
            if not options.only or part in options.only:
                steps[part](bench)
        if options.json:
            _write(options.json, bench.reports)
    took = time.monotonic() - started
    print(f"\naims: {len(bench.met)} met, {len(bench.missed)} missed ({took:.0f} s)")
    for line in bench.missed:
        print(f"  missed: {line}")
    return 1 if options.strict and bench.missed else 0


def _write(path: Path, reports: dict[str, list[Row]]) -> None:
    """One document that `infoforge eval --compare` reads; ids carry the part's name."""
    rows = [row | {"id": f"{label}:{row['id']}"} for label, own in reports.items() for row in own]
    document = {"schema": 1, "command": "eval", "data": {"questions": rows}}
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
