"""A ZIM file of ambiguous titles, and questions whose right article only their words tell.

``ambiguous.txt`` holds the facts: a group a name ("Mercury"), in it articles with a description, an
infobox, a paragraph, redirects (``>``) and questions with their answers (``?``). What makes it hard
is built round them: a disambiguation page a name, pages about the people that name their works, and
lists of novels, films, bands and places.

Run it to print how often the right article comes first.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.zim import build_zim, entry_path

FACTS = Path(__file__).with_name("ambiguous.txt")
AIM = 95.0
NAME = "ambiguous_en"

_PEOPLE = {
    "Author": "wrote",
    "Director": "directed",
    "Producer": "produced",
    "Starring": "starred in",
    "Music": "composed the music for",
    "Singer": "sang with",
    "Members": "played with",
    "Founder": "founded",
    "Designed by": "designed",
    "Publisher": "published",
    "Label": "released records of",
    "Artist": "recorded",
}
_LISTS = {
    "Author": "List of books by author",
    "Director": "List of films by director",
    "Label": "List of bands and albums by label",
    "Mouth": "List of rivers by length",
    "Founder": "List of companies by founder",
    "Operator": "List of spacecraft by operator",
}
# What every article of a kind says; the words of many questions, in many articles.
_COMMON = {
    "Director": "The film was first shown to the press in a private screening. Critics praised the "
    "acting and the music; some thought it too long. It was released on DVD with a commentary by "
    "the director, and an album of the music was published by a label in London.",
    "Author": "The novel was translated into more than thirty languages. A film of it was planned "
    "several times. A first edition is kept in the national library, and the author gave a lecture "
    "about the writing of the book in the year after it was published.",
    "Label": "The band toured Europe and America and released singles from its albums. Its songs "
    "were used in films and on television. Members of the group later founded other bands, and "
    "the label issued a collection of their songs.",
    "Mouth": "The river rises in hills and flows through several towns. Mills stood on its banks, "
    "and a bridge crosses it near its mouth. It flooded the land in 1947.",
    "Population": "The town has a railway station, a museum, a football club and a university. Its "
    "name has been given to a novel, a film, a ship and a band.",
    "Operator": "The spacecraft was launched by a rocket from Florida. Its instruments measured "
    "dust and fields; the mission was named after a figure of mythology.",
}
_LIFE = (
    "is known for work in several countries and over several decades. Awards came late, and "
    "interviews were rare; a biography and a documentary film appeared all the same.",
    "School was left early for an apprenticeship in a printing house. Reading in the evenings, a "
    "first journey abroad and the friendship of an older teacher led to the first attempts, of "
    "which none was a success. A move to the capital followed, then work for a newspaper.",
    "Later years were spent in the country, with a large garden and a small circle of friends. "
    "Papers and letters are kept in a university library. A prize for young people bears the name.",
)


@dataclass
class Fact:
    """One article of the facts."""

    group: str
    title: str
    description: str
    infobox: dict[str, str] = field(default_factory=dict)
    text: str = ""
    redirects: list[str] = field(default_factory=list)
    questions: list[tuple[str, str]] = field(default_factory=list)


def facts(path: Path = FACTS) -> list[Fact]:
    """Read the facts."""
    found: list[Fact] = []
    group = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "=":
            group = rest
        elif mark == "#":
            title, _, description = rest.partition(" | ")
            found.append(Fact(group, title, description))
        elif mark == ">":
            found[-1].redirects.append(rest)
        elif mark == "?":
            question, _, answer = rest.rpartition(" | ")
            found[-1].questions.append((question, answer))
        elif line and not found[-1].infobox:
            pairs = (pair.partition(": ") for pair in line.split("; "))
            found[-1].infobox = {key: value for key, _, value in pairs}
        elif line:
            found[-1].text = line
    return found


def _page(fact: Fact) -> str:
    rows = "".join(
        f"<tr><th>{html.escape(key)}</th><td>{html.escape(value)}</td></tr>"
        for key, value in fact.infobox.items()
    )
    common = [text for key, text in _COMMON.items() if key in fact.infobox]
    more = f"<h2>Background</h2><p>{html.escape(' '.join(common))}</p>" if common else ""
    other = (
        f'<div class="hatnote">This article is about the {html.escape(fact.description)}. For '
        f"other uses, see {html.escape(fact.group)} (disambiguation).</div>"
    )
    return (
        f'{other}<table class="infobox">{rows}</table><p><b>{html.escape(fact.title)}</b>: '
        f"{html.escape(fact.description)}.</p><p>{html.escape(fact.text)}</p>{more}"
    )


def _disambiguation(group: str, members: list[Fact]) -> str:
    items = "".join(
        f'<li><a href="{entry_path(m.title)}">{html.escape(m.title)}</a>, '
        f"{html.escape(m.description)}</li>"
        for m in members
    )
    return (
        f"<p><b>{html.escape(group)}</b> may refer to:</p><ul>{items}</ul>"
        '<div id="disambigbox" class="dmbox-disambig">This disambiguation page lists articles '
        "associated with the same title.</div>"
    )


def _around(every: list[Fact]) -> Iterator[tuple[str, str]]:
    """Pages about the people of the infoboxes, and lists; all of them name the ambiguous titles."""
    works: dict[str, list[str]] = {}
    rows: dict[str, list[str]] = {}
    for fact in every:
        year = fact.infobox.get("Published") or fact.infobox.get("Released") or ""
        for key, did in _PEOPLE.items():
            for person in fact.infobox.get(key, "").split(", "):
                if person:
                    told = f"{did} {fact.title}, the {fact.description}" + (
                        f" ({year})" if year else ""
                    )
                    works.setdefault(person, []).append(told)
        for key, name in _LISTS.items():
            if key in fact.infobox:
                rows.setdefault(name, []).append(
                    f"{fact.title} – {fact.description} – {fact.infobox[key]}"
                )
    titles = {fact.title for fact in every} | {fact.group for fact in every}
    for person, told in works.items():
        if person not in titles and person[0].isupper():
            text = ". ".join(f"{person} {work}" for work in told)
            yield (
                person,
                f"<p><b>{html.escape(person)}</b> {_LIFE[0]}</p><h2>Early years</h2><p>{_LIFE[1]}"
                f"</p><h2>Work</h2><p>{html.escape(text)}. {_LIFE[2]}</p>",
            )
    for name, lines in rows.items():
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
        yield name, f"<p>This is a list.</p><ul>{items}</ul>"


def build(path: Path) -> list[dict[str, Any]]:
    """Write the ZIM file.

    Args:
        path: The file to write.

    Returns:
        The questions: ``id``, ``lang``, ``question``, ``title``, ``answers``.
    """
    every = facts()
    groups: dict[str, list[Fact]] = {}
    for fact in every:
        groups.setdefault(fact.group, []).append(fact)
    pages = {fact.title: _page(fact) for fact in every}
    redirects = {name: fact.title for fact in every for name in fact.redirects}
    for group, members in groups.items():
        title = f"{group} (disambiguation)" if group in pages else group
        pages[title] = _disambiguation(group, members)
        if title == group:
            redirects[f"{group} (disambiguation)"] = group
    for title, page in _around(every):
        pages.setdefault(title, page)
    build_zim(
        path,
        pages,
        redirects=redirects,
        name=NAME,
        title="Ambiguous titles",
        metadata={"Tags": "_ftindex:yes"},  # as every scraper says it; kiwix-serve believes it
    )
    return [
        {
            "id": f"{fact.title}-{number}",
            "lang": "en",
            "question": question,
            "title": fact.title,
            "answers": [answer],
        }
        for fact in every
        for number, (question, answer) in enumerate(fact.questions)
    ]


def main() -> int:
    """Build, ask, print."""
    import tempfile

    from infoforge.corpus.base import Deadline
    from infoforge.corpus.zim import ZimCorpus
    from infoforge.retrieval.find import find

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{NAME}_2026-06.zim"
        questions = build(path)
        corpus = ZimCorpus(path)
        first = 0
        for row in questions:
            found = find(row["question"], [corpus], deadline=Deadline(10), warn=lambda _: None)
            titles = [ranked.article.title for ranked in found.ranked]
            if titles[:1] == [row["title"]]:
                first += 1
            elif "-v" in sys.argv:
                print(f"  {row['question']}\n    {row['title']} <> {titles[:4]}")
        share = 100 * first / len(questions)
        articles = corpus.describe().articles
        print(f"ambiguous titles: {len({f.group for f in facts()})}, articles: {articles}")
        print(f"right article first: {share:.1f} % of {len(questions)} (aim {AIM:.0f} %)")
    return 0 if share >= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
