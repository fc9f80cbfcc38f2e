"""How retrieval bears growth: 3,000, 30,000, 300,000 generated articles around real ones.

The real articles of wikipedia_en_squad stand among generated ones (`generated.py` says how these
are made). ``--dense`` makes them the other way, the stress test: all are about the real subjects.
``--calibration`` counts how many articles hold the questions' words, made either way, beside what
the words' frequency in English lets expect.

With ``--yardsticks`` the same questions go to two rankings over every word of every article, as
only an engine that knows OR can make them: they show how much of a fall lies in the corpus. BM25
suffers from articles that are short beside the real ones; plain TF-IDF, which length favours, does
not.

The files are kept in the cache folder and used again. Each size is measured in its own process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from math import exp, log
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from eval.generated import DATA, REAL, Articles, Calibrated, Dense, listed

SIZES = (3_000, 30_000, 300_000)
FALL_HIT5 = 3.0
SLOWER = 2.0
CALIBRATED_ON = 20_000
"""Articles in which ``--calibration`` counts words."""
_VERSION = 3  # of the generator; a file of another one is built anew


def cache() -> Path:
    """Where the generated files are kept; outside of the repository."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "infoforge-eval"


def build(path: Path, articles: Articles, count: int) -> None:
    """Write a ZIM file of the real articles and ``count`` generated ones."""
    from libzim.reader import Archive
    from libzim.writer import Creator, Hint, Item, StringProvider

    class Entry(Item):  # type: ignore[misc]
        def __init__(self, where: str, label: str, data: bytes) -> None:
            super().__init__()
            self.where, self.label, self.data = where, label, data

        def get_path(self) -> str:
            return self.where

        def get_title(self) -> str:
            return self.label

        def get_mimetype(self) -> str:
            return "text/html"

        def get_contentprovider(self) -> Any:
            return StringProvider(self.data)

        def get_hints(self) -> dict[Any, int]:
            return {Hint.FRONT_ARTICLE: 1}

    archive = Archive(REAL)
    beside = path.with_suffix(".part")
    beside.unlink(missing_ok=True)
    creator = Creator(beside)
    creator.config_indexing(True, "eng").config_nbworkers(2)
    with creator:
        for number in range(archive.all_entry_count):
            entry = archive._get_entry_by_id(number)
            if entry.is_redirect:
                target = entry.get_redirect_entry().path
                hints = {Hint.FRONT_ARTICLE: 1}
                creator.add_redirection(entry.path, entry.title, target, hints)
            elif entry.get_item().mimetype.startswith("text/html"):
                content = bytes(entry.get_item().content)
                creator.add_item(Entry(entry.path, entry.title, content))
        for number in range(count):
            title, text = articles.article(number)
            page = f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{text}</body>"
            creator.add_item(Entry(title.replace(" ", "_"), title, f"{page}</html>".encode()))
        for key, value in {
            "Name": path.stem,
            "Title": f"Growth {count}",
            "Language": "eng",
            "Date": "2026-06-01",
            "Creator": "tests",
            "Publisher": "tests",
            "Description": "Made for a measurement",
            "Tags": "_ftindex:yes",
        }.items():
            creator.add_metadata(key, value)
    beside.replace(path)


def built(count: int, dense: bool) -> tuple[Path, float]:
    """The file of a size, and how long its making took (in seconds, as noted when it was made)."""
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"growth{_VERSION}{'dense' if dense else ''}_{count}_2026-06.zim"
    note = path.with_suffix(".json")
    if not (path.exists() and note.exists()):
        argv = [sys.executable, __file__, "--build", str(path), str(count)]
        argv += ["--dense"] if dense else []
        started = time.monotonic()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        note.write_text(json.dumps({"seconds": time.monotonic() - started}))
    return path, json.loads(note.read_text())["seconds"]


def measure(path: Path, count: int, seed: int) -> dict[str, float]:
    """Ask the questions, in this process."""
    from infoforge.ask import Options
    from infoforge.config.settings import Settings
    from infoforge.corpus.zim import ZimCorpus
    from infoforge.evaluate import questions, report
    from infoforge.evaluate.run import EvalOptions, run

    every = questions.load(DATA / "questions" / "en_squad.jsonl")
    asked = questions.sample(every, count, seed)
    corpora = [ZimCorpus(path)]
    plan = EvalOptions(Settings(), Options(deadline=60))
    run(asked[:5], corpora, plan)
    figures = report.summary(run(asked, corpora, plan))
    total = figures["milliseconds"]["total"]
    return {
        "hit1": figures["hit1"],
        "hit5": figures["hit5"],
        "empty": figures["empty"],
        "answer": figures["answer_in_context"],
        "p50": total["p50"],
        "p95": total["p95"],
        "search_p50": figures["milliseconds"]["candidates"]["p50"],
        "searches": figures["searches"]["median"],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def yardsticks(path: Path, count: int, seed: int) -> dict[str, float]:
    """hit@5 of BM25 (Robertson and Walker 1994, k1 1.2, b 0.75) and of TF-IDF as Chen et al. (2017)
    use it (log(1 + tf), no length), over all articles' words."""
    from libzim.reader import Archive

    from infoforge.evaluate import questions
    from infoforge.retrieval.keywords import keywords
    from infoforge.text.words import stem

    every = questions.load(DATA / "questions" / "en_squad.jsonl")
    asked = questions.sample(every, count, seed)
    wanted = {t.stem for q in asked for t in keywords(q.text, "en").terms}
    archive = Archive(path)
    postings: dict[str, dict[int, int]] = {word: {} for word in wanted}
    # Stemming fifty million words takes half an hour; a stem keeps its word's beginning.
    heads = {word[:3] for word in wanted}
    lengths: dict[int, int] = {}
    titles: dict[int, str] = {}
    for number in range(archive.all_entry_count):
        entry = archive._get_entry_by_id(number)
        if entry.is_redirect or not entry.get_item().mimetype.startswith("text/html"):
            continue
        text = re.sub(r"<[^>]*>", " ", bytes(entry.get_item().content).decode())
        words = re.findall(r"\w+", text.lower())
        lengths[number], titles[number] = len(words), entry.title
        for word in (stem(word, "en") for word in words if word[:3] in heads):
            if word in wanted:
                postings[word][number] = postings[word].get(number, 0) + 1
    mean = sum(lengths.values()) / len(lengths)
    hits = {"BM25": 0, "TF-IDF": 0}
    for question in asked:
        scores: dict[str, dict[int, float]] = {name: {} for name in hits}
        for term in keywords(question.text, "en").terms:
            found = postings[term.stem]
            rarity = log(1 + (len(lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for number, times in found.items():
                norm = 1.2 * (0.25 + 0.75 * lengths[number] / mean)
                for name, value in (
                    ("BM25", times * 2.2 / (times + norm)),
                    ("TF-IDF", log(1 + times)),
                ):
                    own = scores[name]
                    own[number] = own.get(number, 0.0) + rarity * value
        for name, own in scores.items():
            best = sorted(own, key=lambda number: (-own[number], number))[:5]
            hits[name] += bool({titles[number] for number in best} & set(question.titles))
    return {name: 100 * hit / len(asked) for name, hit in hits.items()}


def calibration(count: int, seed: int) -> None:
    """Print which share of the articles holds the questions' words, and which share should."""
    from infoforge.evaluate import questions
    from infoforge.retrieval.keywords import keywords
    from infoforge.text.words import UNKNOWN_ZIPF, stem

    every = questions.load(DATA / "questions" / "en_squad.jsonl")
    asked = questions.sample(every, count, seed)
    rare = [[t.stem for t in keywords(q.text, "en").by_rarity()[:5]] for q in asked]
    wanted = {word for words in rare for word in words}
    heads = {word[:3] for word in wanted}
    rates: dict[str, float] = dict.fromkeys(wanted, 0.0)
    for word, rate in listed().items():
        if word[:3] in heads and (same := stem(word, "en")) in wanted:
            rates[same] += rate
    for kind in (Calibrated, Dense):
        # As they are in the largest corpus: its first ones.
        articles = kind(SIZES[-1])
        held = dict.fromkeys(wanted, 0)
        lengths = []
        for number in range(CALIBRATED_ON):
            text = re.sub(r"<[^>]*>", " ", articles.article(number)[1]).lower()
            words = re.findall(r"\w+", text)
            lengths.append(len(words))
            for word in {stem(w, "en") for w in words if w[:3] in heads} & wanted:
                held[word] += 1
        mean, median = sum(lengths) / len(lengths), sorted(lengths)[len(lengths) // 2]
        print(f"{kind.__name__}: {mean:.0f} words an article, median {median}")
        for place in range(5):
            own = [words[place] for words in rare if len(words) > place]
            seen = sorted(held[word] / CALIBRATED_ON for word in own)
            due = sorted(
                1 - exp(-mean * max(rates[word], 10 ** (UNKNOWN_ZIPF - 9))) for word in own
            )
            middle = len(own) // 2
            print(
                f"  word {place + 1} by rarity: in {seen[middle]:.2%} of the articles (median), "
                f"by its frequency {due[middle]:.2%}"
            )


def main() -> int:
    """Build what is missing, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, help=f"generated articles [{SIZES}]")
    parser.add_argument("--count", type=int, default=1000, help="questions")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--yardsticks", action="store_true", help="BM25 and TF-IDF beside it")
    parser.add_argument("--dense", action="store_true", help="all about the real subjects")
    parser.add_argument("--calibration", action="store_true", help="count the questions' words")
    parser.add_argument("--build", nargs=2, metavar=("FILE", "N"), help=argparse.SUPPRESS)
    parser.add_argument("--measure", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        count = int(options.build[1])
        build(Path(options.build[0]), (Dense if options.dense else Calibrated)(count), count)
        return 0
    if options.measure:
        print(json.dumps(measure(Path(options.measure), options.count, options.seed)))
        return 0
    if not REAL.is_file():
        print("growth: skipped: no ../shared/data beside the repository")
        return 0
    if options.calibration:
        calibration(options.count, options.seed)
        return 0
    print(
        f"{'articles':>10}{'hit@1':>8}{'hit@5':>8}{'empty':>7}{'answer':>8}{'p50 ms':>9}"
        f"{'p95 ms':>9}{'search':>8}{'searches':>10}{'peak MB':>9}{'file MB':>9}{'build s':>9}"
    )
    before: dict[str, float] = {}
    for count in (0, *(options.sizes or SIZES)):
        path, took = (REAL, 0.0) if count == 0 else built(count, options.dense)
        argv = [sys.executable, __file__, "--measure", str(path), "--count", str(options.count)]
        done = subprocess.run(
            [*argv, "--seed", str(options.seed)], stdout=subprocess.PIPE, check=True
        )
        r: dict[str, float] = json.loads(done.stdout)
        print(
            f"{count:>10,}{r['hit1']:8.1f}{r['hit5']:8.1f}{r['empty']:7.1f}{r['answer']:8.1f}"
            f"{r['p50']:9.1f}{r['p95']:9.1f}{r['search_p50']:8.1f}{r['searches']:10g}"
            f"{r['peak_mb']:9.0f}{path.stat().st_size / 1e6:9.1f}{took:9.0f}",
            flush=True,
        )
        if options.yardsticks:
            for name, hit5 in yardsticks(path, options.count, options.seed).items():
                print(f"{name:>10}{'':8}{hit5:8.1f}", flush=True)
        if before and count >= SIZES[-1]:
            fall = before["hit5"] - r["hit5"]
            slower = r["p50"] / before["p50"]
            print(
                f"hit@5 falls by {fall:.1f} points (aim at most {FALL_HIT5:g}), "
                f"p50 is {slower:.1f} times as long (aim at most {SLOWER:g})"
            )
        before = before or r
    return 0


if __name__ == "__main__":
    sys.exit(main())
