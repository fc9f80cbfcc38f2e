"""What `infoforge zimify` costs: time beside zimwriterfs, memory as the folder grows.

Time: both make a ZIM with title and full-text index of the same tree of HTML pages, one after the
other, in turns; the best of each counts, and the ratio is printed. Memory: the peak of all
processes together (proportional set size) on 5,000 and on 50,000 generated notes. Each ZIM goes
through zimcheck, and some notes are looked for through its index.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cli import SCRIPT

TREES = ("/usr/share/doc/python3/html", "/usr/share/doc/python3.11/html")
AIM_SPEED = 1.0
AIM_MEMORY = 2.0
SYLLABLES = ("ka", "so", "ri", "me", "to", "na", "vel", "dor", "is", "un", "pra", "lin", "gos")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", default="", help="a tree of HTML pages with an index.html")
    parser.add_argument("--runs", type=int, default=1, help="runs of each on the tree")
    parser.add_argument("--notes", type=int, default=50_000, help="notes of the large folder")
    parser.add_argument("--only", choices=("speed", "memory"), help="one half alone")
    parser.add_argument("--strict", action="store_true", help="exit 1 when an aim is missed")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        if options.only != "memory":
            good &= speed(Path(folder), options.tree, options.runs)
        if options.only != "speed":
            good &= memory(Path(folder), options.notes)
    return 1 if options.strict and not good else 0


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
    good = checked(folder / "ours.zim")
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
    from infoforge.zimify.illustration import illustration

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
        good &= checked(target) and searchable(target, count)
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
    """Whether zimcheck finds nothing to say about a file."""
    if shutil.which("zimcheck") is None:
        print("  zimcheck: not installed")
        return True
    done = subprocess.run(["zimcheck", "-A", zim], capture_output=True, text=True, check=False)
    clean = not done.returncode and "[ERROR]" not in done.stdout and "[WARNING]" not in done.stdout
    print(f"  zimcheck: {'clean' if clean else done.stdout[-1500:]}")
    return clean


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
