"""What `infoforge zimify` costs: time beside zimwriterfs, memory as the folder grows.

Time: both make a ZIM with title and full-text index of the same tree of HTML pages, one after the
other, in turns; the best of each counts, and the ratio is printed. Memory: the peak of all
processes together (proportional set size) on 5,000 and on 50,000 generated notes. Vault: the
runbooks of the shared data. Each ZIM goes through zimcheck (the system's and 3.5), and samples of
its pages are looked for through kiwix-serve (3.3 and 3.7).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cli import SCRIPT
from support.kiwix import REPO, WRAPPER, Kiwix, Unavailable

from infoforge.corpus.base import Deadline
from infoforge.corpus.kiwix import KiwixCorpus, KiwixServer
from infoforge.corpus.zim import ZimCorpus

TREES = ("/usr/share/doc/python3/html", "/usr/share/doc/python3.11/html")
AIM_SPEED = 1.0
AIM_MEMORY = 2.0
SYLLABLES = ("ka", "so", "ri", "me", "to", "na", "vel", "dor", "is", "un", "pra", "lin", "gos")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", default="", help="a tree of HTML pages with an index.html")
    parser.add_argument("--runs", type=int, default=1, help="runs of each on the tree")
    parser.add_argument("--notes", type=int, default=50_000, help="notes of the large folder")
    parser.add_argument("--only", choices=("speed", "memory", "vault"), help="one part alone")
    parser.add_argument("--strict", action="store_true", help="exit 1 when an aim is missed")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        if options.only in (None, "vault"):
            good &= vault(Path(folder))
        if options.only in (None, "speed"):
            good &= speed(Path(folder), options.tree, options.runs)
        if options.only in (None, "memory"):
            good &= memory(Path(folder), options.notes)
    return 1 if options.strict and not good else 0


def vault(folder: Path) -> bool:
    """The runbooks: as they come out of the box."""
    notes = REPO.parent / "shared" / "data" / "vaults" / "runbooks"
    if not notes.is_dir():
        print("zimify: no ../shared/data beside the repository: no runbooks")
        return True
    zim = folder / "runbooks.zim"
    done = subprocess.run(
        [SCRIPT, "zimify", notes, "-o", zim, "--language", "eng"], capture_output=True, check=False
    )
    print("zimify: runbooks: " + done.stdout.decode().strip().replace("\n", "\n  "))
    return not done.returncode and checked(zim) and served(zim, pages(zim))


def speed(folder: Path, given: str, runs: int) -> bool:
    """Time on a tree of HTML pages."""
    tree = next(
        (Path(t) for t in (given, *TREES) if t and (Path(t) / "index.html").is_file()), None
    )
    if tree is None:
        print("zimify: no tree of HTML pages here (apt install python3-doc, or --tree)")
        return True
    # zimwriterfs wants the picture inside the folder, and plain files.
    work = folder / "tree"
    shutil.copytree(tree, work, symlinks=False)
    shutil.copy(picture(folder), work / "illustration48.png")
    count = sum(1 for _ in work.rglob("*.html"))
    size = sum(f.stat().st_size for f in work.rglob("*") if f.is_file())
    print(f"zimify: {tree}: {count} pages, {size / 1e6:.0f} MB")
    best: dict[str, float] = {}
    for _ in range(runs):
        for name, argv in commands(work, folder).items():
            if shutil.which(argv[0]) is None:
                print(f"  {name}: not installed")
                continue
            target = Path(argv[-1]) if name == "zimwriterfs" else folder / "ours.zim"
            target.unlink(missing_ok=True)
            start = time.perf_counter()
            done = subprocess.run(argv, capture_output=True, check=False)
            taken = time.perf_counter() - start
            if done.returncode:
                print(f"  {name} exited with {done.returncode}: {done.stderr.decode()[-500:]}")
                return False
            best[name] = min(taken, best.get(name, taken))
            print(f"  {name:<18}{taken:7.1f} s  {target.stat().st_size / 1e6:6.1f} MB")
    good = checked(folder / "ours.zim") and served(folder / "ours.zim", pages(folder / "ours.zim"))
    shutil.rmtree(work)
    if len(best) == 2:
        ratio = best["infoforge zimify"] / best["zimwriterfs"]
        good &= ratio <= AIM_SPEED
        verdict = "met" if ratio <= AIM_SPEED else "missed"
        print(f"  ratio {ratio:.2f}x of zimwriterfs' time  aim at most {AIM_SPEED:.0f}x: {verdict}")
    return good


def commands(work: Path, folder: Path) -> dict[str, list[str]]:
    """Both ways to make a ZIM of the tree."""
    cores = str(len(os.sched_getaffinity(0)))
    described = ("-t", "Bench", "-d", "A bench", "-c", "Bench", "-p", "Bench", "-n", "bench")
    return {
        "zimwriterfs": [
            "zimwriterfs", "-w", "index.html", "-I", "illustration48.png", "-l", "eng", *described,
            "-J", cores, str(work), str(folder / "theirs.zim"),
        ],
        "infoforge zimify": [
            str(SCRIPT), "zimify", str(work), "-o", str(folder / "ours.zim"), "--language", "eng",
        ],
    }  # fmt: skip


def picture(folder: Path) -> Path:
    """The illustration that zimwriterfs asks for."""
    from infoforge.zimify.writer import illustration

    path = folder / "illustration48.png"
    path.write_bytes(illustration("bench"))
    return path


def memory(folder: Path, notes: int) -> bool:
    """Peak memory on a small and on a large folder."""
    peaks: dict[int, float] = {}
    good = True
    for count in (notes // 10, notes):
        work = folder / "notes"
        generate(work, count)
        target = folder / f"notes{count}.zim"
        start = time.perf_counter()
        process = subprocess.Popen(
            [SCRIPT, "zimify", work, "-o", target, "--language", "eng", "--strict"],
            stdout=subprocess.PIPE,
        )
        peak = 0
        while process.poll() is None:
            peak = max(peak, tree_memory(process.pid))
            time.sleep(0.2)
        taken = time.perf_counter() - start
        assert process.stdout is not None
        print(f"zimify: {count} notes: {taken:.0f} s, peak {peak / 1e6:.0f} MB")
        print("  " + process.stdout.read().decode().strip())
        shutil.rmtree(work)
        if process.returncode:
            return False
        peaks[count] = peak
        good &= checked(target) and searchable(target, count) and served(target, needles(count))
    ratio = peaks[notes] / peaks[notes // 10]
    verdict = "met" if ratio < AIM_MEMORY else "missed"
    print(f"  ratio {ratio:.2f}x for ten times the notes  aim under {AIM_MEMORY:.0f}x: {verdict}")
    return good and ratio < AIM_MEMORY


def generate(folder: Path, count: int) -> None:
    """Notes of some hundred words with links to each other; note N holds the word ``needleN``."""
    rng = random.Random(7)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))) for _ in range(8000)]
    for number in range(count):
        home = folder / f"part{number % 97}"
        home.mkdir(parents=True, exist_ok=True)
        others = [rng.randrange(count) for _ in range(3)]
        text = [f"---\ntitle: Note {number}\naliases: [Old {number}]\n---\n"]
        for paragraph in range(4):
            text.append(" ".join(rng.choices(words, k=50)).capitalize() + ".\n")
            if paragraph < 3:
                text.append(f"See [[Note {others[paragraph]}]], **{rng.choice(words)}**.\n")
        text.append(f"| key | value |\n|---|---|\n| needle{number} | {number} |\n")
        (home / f"note{number}.md").write_text("\n".join(text), encoding="utf-8")


def tree_memory(pid: int) -> int:
    """Bytes that a process and its children hold; what they share is counted once."""
    total = 0
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        try:
            rollup = Path(f"/proc/{current}/smaps_rollup").read_text()
            children = Path(f"/proc/{current}/task/{current}/children").read_text()
        except OSError:
            continue
        waiting += [int(child) for child in children.split()]
        total += next(
            (int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:")),
            0,
        )
    return total


def checked(zim: Path) -> bool:
    """Whether neither zimcheck finds anything to say about a file."""
    good = True
    for name, argv in (("zimcheck", ["zimcheck"]), ("zimcheck 3.5", [WRAPPER, "zimcheck"])):
        if shutil.which(argv[0]) is None:
            print(f"  {name}: not installed")
            continue
        done = subprocess.run([*argv, "-A", zim], capture_output=True, text=True, check=False)
        said = [line for line in done.stdout.splitlines() if line[:7] in ("[ERROR]", "[WARNIN")]
        if done.returncode == 69:
            print(f"  {name}: {done.stderr.strip()}")
            continue
        print(f"  {name}: {'clean' if not said and not done.returncode else said}")
        good &= not said and not done.returncode
    return good


def pages(zim: Path, most: int = 100) -> list[tuple[str, str]]:
    """Pages of a ZIM, each with six words that stand side by side in the middle of it."""
    from libzim.reader import Archive

    archive = Archive(zim)
    found: list[tuple[str, str]] = []
    for number in range(archive.all_entry_count):
        entry = archive._get_entry_by_id(number)
        if entry.is_redirect or entry.get_item().mimetype != "text/html":
            continue
        if re.search(rb'<meta name="source" content="[^"]*/">', bytes(entry.get_item().content)):
            continue  # the list of a folder, which is kept out of the index
        article = ZimCorpus(zim).read(entry.path, Deadline(None))
        text = max((s.text for s in article.sections), key=len, default="") if article else ""
        words = re.findall(r"(?<![\w'’])[^\W\d_]{5,}(?![\w'’])", text)
        if len(words) >= 30:
            found.append((" ".join(words[len(words) // 2 :][:6]), entry.path))
    return random.Random(7).sample(found, min(most, len(found)))


def served(zim: Path, samples: list[tuple[str, str]]) -> bool:
    """Whether kiwix-serve shows a ZIM in its catalog and finds sample pages by their words."""
    good = True
    for version in ("3.7", "3.3"):
        try:
            server = Kiwix(version, [zim])
        except Unavailable as reason:
            print(f"  kiwix-serve {version}: {reason}")
            continue
        with server:
            known = KiwixServer(server.url)
            books = known.books(Deadline(60))
            missing = [p for words, p in samples if not books or not _finds(known, words, p)]
        print(
            f"  kiwix-serve {version}: {len(books)} book in its catalog, "
            f"{len(samples) - len(missing)} of {len(samples)} pages found"
            + (f"; not {missing[:3]}" if missing else "")
        )
        good &= len(books) == 1 and not missing
    return good


def _finds(server: KiwixServer, words: str, path: str) -> bool:
    corpus = KiwixCorpus(server, server.books(Deadline(60))[0])
    hits = corpus.search(words, 50, Deadline(60)).hits
    return any(hit.path == path for hit in hits)


def needles(count: int) -> list[tuple[str, str]]:
    """Each some hundredth note, with the word that it alone holds."""
    step = max(1, count // 100)
    return [(f"needle{n}", f"part{n % 97}/note{n}") for n in range(0, count, step)]


def searchable(zim: Path, count: int) -> bool:
    """Whether notes are found by a word that they alone hold, by title and by alias."""
    from libzim.reader import Archive
    from libzim.search import Query, Searcher
    from libzim.suggestion import SuggestionSearcher

    archive = Archive(zim)
    wrong = 0
    for number in range(0, count, max(1, count // 500)):
        path = f"part{number % 97}/note{number}"
        found = Searcher(archive).search(Query().set_query(f"needle{number}")).getResults(0, 2)
        titled = SuggestionSearcher(archive).suggest(f"Note {number}").getResults(0, 1)
        old = archive.get_entry_by_path(f"Old {number}").get_item().path
        wrong += list(found) != [path] or list(titled) != [path] or old != path
    print(f"  searched: {'each of 500 samples found' if not wrong else f'{wrong} not found'}")
    return not wrong


if __name__ == "__main__":
    sys.exit(main())
