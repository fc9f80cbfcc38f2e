"""What looking up costs and finds: time, requests, peak memory, hits; both corpora, the same ZIM.

Each corpus runs in a process of its own, so that its memory is its own. Time is taken without the
counting proxy, requests with it. `--eval` asks more questions, in every language there is.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.kiwix import REPO, Kiwix, Unavailable, command
from support.proxy import RecordingProxy

from infoforge.config.settings import KiwixSettings, Settings, ZimSettings
from infoforge.corpus.base import Corpus, Deadline
from infoforge.corpus.opened import open_corpora

DATA = REPO.parent / "shared" / "data"
SETS = {
    # questions: ZIM file
    "en_squad": "wikipedia_en_squad_2026-06.zim",
    "en_xquad": "wikipedia_en_xquad_2026-06.zim",
    "de_xquad": "wikipedia_de_xquad_2026-06.zim",
    "es_xquad": "wikipedia_es_xquad_2026-06.zim",
    "zh_xquad": "wikipedia_zh_xquad_2026-06.zim",
}
AIM_MS = 60.0
AIM_REQUESTS = 12.0


def questions(name: str, count: int, seed: int) -> list[dict[str, Any]]:
    """A seeded sample of a set of questions."""
    lines = (DATA / "questions" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    return random.Random(seed).sample(every, min(count, len(every)))


def opened(kind: str, zim: Path, url: str = "") -> list[Corpus]:
    """The corpora as a run of the command has them."""
    settings = Settings(
        zims=ZimSettings(folder=zim.parent, enabled=(zim.name,)), kiwix=KiwixSettings(url=url)
    )
    corpora = open_corpora(settings, complain, deadline=Deadline(10))
    assert [c.describe().kind for c in corpora] == [kind], "the corpus asked for did not open"
    return corpora


def complain(warning: Any) -> None:
    """Disambiguation pages and respelled words are part of a search; a fault spoils the figures."""
    if warning.code not in {"disambiguation", "spelling"}:
        raise SystemExit(f"bench: {warning.code}: {warning.message}")


def look_up(question: str, corpora: Sequence[Corpus]) -> list[str]:
    """Titles of the articles found, best first."""
    from infoforge.retrieval.find import find

    found = find(question, corpora, deadline=Deadline(10), warn=complain)
    return [ranked.article.title for ranked in found.ranked]


def measure(kind: str, name: str, count: int, seed: int) -> dict[str, float]:
    """Run the questions of a set on one corpus, in this process."""
    sample = questions(name, count, seed)
    zim = DATA / "zims" / SETS[name]
    with ExitStack() as stack:
        server = stack.enter_context(Kiwix("3.7", [zim])) if kind == "kiwix" else None
        corpora = opened(kind, zim, server.url if server else "")
        look_up(sample[0]["question"], corpora)  # imports and word lists are the start-up's cost
        times, first, five, empty = [], 0, 0, 0
        for asked in sample:
            start = time.perf_counter()
            titles = look_up(asked["question"], corpora)
            times.append((time.perf_counter() - start) * 1000)
            first += asked["title"] in titles[:1]
            five += asked["title"] in titles[:5]
            empty += not titles
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        requests = 0.0
        if server:
            proxy = stack.enter_context(RecordingProxy(server.port))
            corpora = opened(kind, zim, proxy.url)
            proxy.targets.clear()  # the catalog is read once a run, not once a question
            for asked in sample:
                look_up(asked["question"], corpora)
            requests = len(proxy.targets) / len(sample)
    times.sort()
    share = 100 / len(sample)
    return {
        "questions": len(sample),
        "p50": statistics.median(times),
        "p95": times[min(len(times) - 1, int(len(times) * 0.95))],
        "hit1": first * share,
        "hit5": five * share,
        "empty": empty * share,
        "requests": requests,
        "peak_mb": peak,
    }


def apart(kind: str, name: str, count: int, seed: int) -> dict[str, float]:
    """`measure` in a process of its own."""
    argv = [sys.executable, __file__, "--one", kind, name, "--count", str(count)]
    done = subprocess.run([*argv, "--seed", str(seed)], stdout=subprocess.PIPE, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def met(value: float, aim: float, unit: str) -> str:
    return f"aim under {aim:.0f} {unit}: {'met' if value < aim else 'missed'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=0, help="questions a set")
    parser.add_argument("--seed", type=int, default=7, help="seed of the sample")
    parser.add_argument("--eval", action="store_true", help="every set, 300 questions each")
    parser.add_argument("--one", nargs=2, metavar=("CORPUS", "SET"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, name = options.one
        print(json.dumps(measure(kind, name, options.count, options.seed)))
        return 0
    if not DATA.is_dir():
        print("retrieval: skipped: no ../shared/data beside the repository")
        return 0
    kinds = ["zim", "kiwix"]
    try:
        command("3.7")
    except Unavailable as reason:
        print(f"retrieval: kiwix left out: {reason}")
        kinds.remove("kiwix")
    count = options.count or (300 if options.eval else 200)
    sets = list(SETS) if options.eval else ["en_squad"]
    print(f"retrieval, {count} questions a set, seed {options.seed}")
    print(
        f"  {'set':<10}{'corpus':<8}{'hit@1':>7}{'hit@5':>7}{'empty':>7}"
        f"{'p50 ms':>9}{'p95 ms':>9}{'requests':>10}{'peak MB':>9}"
    )
    for name in sets:
        for kind in kinds:
            r = apart(kind, name, count, options.seed)
            asked = f"{r['requests']:.1f}" if kind == "kiwix" else "-"
            print(
                f"  {name:<10}{kind:<8}{r['hit1']:7.1f}{r['hit5']:7.1f}{r['empty']:7.1f}"
                f"{r['p50']:9.1f}{r['p95']:9.1f}{asked:>10}{r['peak_mb']:9.0f}"
            )
            if name == "en_squad" and kind == "zim":
                print(f"{'':12}p50 in this process: {met(r['p50'], AIM_MS, 'ms')}")
            if name == "en_squad" and kind == "kiwix":
                print(f"{'':12}requests: {met(r['requests'], AIM_REQUESTS, 'a question')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
