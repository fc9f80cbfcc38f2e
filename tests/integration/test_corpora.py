"""One ZIM, two ways to read it: libzim in this process and a real kiwix-serve say the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from support.cli import Cli
from support.fault_server import Behaviour, FaultServer, Request, refused_url
from support.kiwix import Kiwix, Unavailable, command
from support.zim import build_zim

from infoforge.contract import WarningMessage
from infoforge.corpus.base import Corpus, CorpusError, Deadline, DeadlineExceeded
from infoforge.corpus.kiwix import KiwixCorpus, KiwixServer
from infoforge.corpus.zim import ZimCorpus
from infoforge.retrieval.find import Retrieval, find

FOREVER = Deadline(None)
ARTICLES = {
    "Kokoro (novel)": "<p>Kokoro is a novel by the Japanese author Natsume Sōseki. It was "
    "published in 1914 in a newspaper.</p><h2>Plot</h2><p>A student meets an old man.</p>",
    "Kokoro (album)": "<p>Kokoro is an album by a band. It was sold in 2004.</p>",
    "Kokoro": "<p><b>Kokoro</b> may refer to:</p><ul>"
    '<li><a href="Kokoro_(novel)">Kokoro (novel)</a>, a novel of 1914</li>'
    '<li><a href="Kokoro_(album)">Kokoro (album)</a>, an album</li></ul>',
    "Natsume Sōseki": "<p>Natsume Sōseki, born in 1867, was a novelist. He wrote Kokoro.</p>",
    "V&A Museum": "<p>The V&amp;A is a museum of design with a gallery of ceramics.</p>",
    "Какой-то роман": "<p>Роман о сердце и о студенте.</p>",
    "100% / slash?": "<p>A record by the percentage orchestra.</p>",
}
REDIRECTS = {"Soseki": "Natsume Sōseki", "Natsume Kinnosuke": "Natsume Sōseki"}


@pytest.fixture(scope="module", params=["3.7", "3.3"])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Corpus, Corpus]]:
    """The same file through libzim and through kiwix-serve."""
    try:
        command(request.param)
    except Unavailable as reason:
        pytest.skip(f"kiwix-serve {request.param}: {reason}")
    path = tmp_path_factory.mktemp("zims") / "sample_en_2026-06.zim"
    build_zim(path, ARTICLES, redirects=REDIRECTS, name="sample_en")
    with Kiwix(request.param, [path]) as served:
        yield ZimCorpus(path), corpora_of(served)[0]


def corpora_of(served: Kiwix) -> list[KiwixCorpus]:
    server = KiwixServer(served.url)
    return [KiwixCorpus(server, book) for book in server.books(FOREVER)]


def found(question: str, *corpora: Corpus, deadline: Deadline = FOREVER) -> Retrieval:
    return find(question, corpora, deadline=deadline, warn=lambda warning: None)


def test_both_describe_the_same(pair: tuple[Corpus, Corpus]) -> None:
    zim, kiwix = (corpus.describe() for corpus in pair)
    assert zim.kind == "zim"
    assert kiwix.kind == "kiwix"
    assert (zim.name, zim.title, zim.languages, zim.date) == ("sample_en", "sample_en", ("en",),
                                                              "2026-06")  # fmt: skip
    assert (kiwix.name, kiwix.title, kiwix.languages, kiwix.date) == (
        zim.name, zim.title, zim.languages, zim.date,
    )  # fmt: skip
    assert kiwix.articles == zim.articles > 0


@pytest.mark.parametrize(
    "query",
    ["kokoro", "novel soseki", "museum", "V&A", "роман", "plorkwidget", "Sōseki", "", " ", "%&+#"],
)
def test_both_find_the_same_texts(pair: tuple[Corpus, Corpus], query: str) -> None:
    zim, kiwix = (corpus.search(query, 10, FOREVER) for corpus in pair)
    assert [(h.path, h.title) for h in kiwix.hits] == [(h.path, h.title) for h in zim.hits]
    assert kiwix.total == zim.total


@pytest.mark.parametrize(
    "phrase", ["Kokoro", "kok", "Natsume Soseki", "Kinnosuke", "V&A", "роман", "slash", "zzz", ""]
)
def test_both_find_the_same_titles(pair: tuple[Corpus, Corpus], phrase: str) -> None:
    zim, kiwix = (corpus.titles(phrase, 10, FOREVER) for corpus in pair)
    # Which of an article's names a redirect is shown under differs between the versions.
    assert {reached(pair[1], h.path) for h in kiwix} == {reached(pair[0], h.path) for h in zim}
    assert bool(zim) is (phrase not in ("zzz", ""))


def reached(corpus: Corpus, path: str) -> str:
    article = corpus.read(path, FOREVER)
    assert article is not None, path
    return article.path


@pytest.mark.parametrize("title", list(ARTICLES))
def test_both_read_the_same(pair: tuple[Corpus, Corpus], title: str) -> None:
    path = title.replace(" ", "_")
    zim, kiwix = (corpus.read(path, FOREVER) for corpus in pair)
    assert zim is not None
    assert kiwix is not None
    assert zim.sections
    for field in ("corpus", "path", "title", "date", "language", "sections", "links"):
        assert getattr(kiwix, field) == getattr(zim, field), field
    assert kiwix.disambiguation == zim.disambiguation == (title == "Kokoro")
    assert kiwix.url.startswith("http://127.0.0.1:")
    assert unquote(kiwix.url).endswith(f"sample_en_2026-06/{path}")
    assert unquote(zim.url) == f"zim://sample_en_2026-06.zim/{path}"


def test_a_redirect_leads_to_the_article_in_both(pair: tuple[Corpus, Corpus]) -> None:
    for corpus in pair:
        for name in ("Soseki", "Natsume_Kinnosuke"):
            article = corpus.read(name, FOREVER)
            assert article is not None
            assert (article.path, article.title) == ("Natsume_Sōseki", "Natsume Sōseki")


def test_what_is_not_there_is_none_in_both(pair: tuple[Corpus, Corpus]) -> None:
    for corpus in pair:
        assert corpus.read("No_such_article", FOREVER) is None
        assert corpus.read("kokoro_(novel)", FOREVER) is None


def test_a_time_that_is_over_is_over_in_both(pair: tuple[Corpus, Corpus]) -> None:
    over = Deadline(0)
    for corpus in pair:
        for call in (
            lambda c: c.search("kokoro", 5, over),
            lambda c: c.titles("kokoro", 5, over),
            lambda c: c.read("Kokoro", over),
        ):
            with pytest.raises(DeadlineExceeded):
                call(corpus)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the novel Kokoro?",
        "When was Natsume Sōseki born?",
        "When was Soseki born?",
        "What is shown in the V&A museum?",
        "qzxvbnm plorkwidget",
    ],
)
def test_both_ground_on_the_same_in_the_same_order(
    pair: tuple[Corpus, Corpus], question: str
) -> None:
    zim, kiwix = (found(question, corpus) for corpus in pair)
    assert [r.article.path for r in kiwix.ranked] == [r.article.path for r in zim.ranked]
    assert [r.scores for r in kiwix.ranked] == [r.scores for r in zim.ranked]
    assert bool(zim.ranked) is ("qzxvbnm" not in question)


def test_an_article_with_several_names_is_one_source(pair: tuple[Corpus, Corpus]) -> None:
    for corpus in pair:
        question = "When was Soseki, or Natsume Sōseki, the novelist, born?"
        paths = [r.article.path for r in found(question, corpus).ranked]
        assert paths.count("Natsume_Sōseki") == 1


def test_a_disambiguation_page_is_named_and_its_links_are_read(
    pair: tuple[Corpus, Corpus],
) -> None:
    for corpus in pair:
        told: list[WarningMessage] = []
        result = find("Who wrote the novel Kokoro?", [corpus], deadline=FOREVER, warn=told.append)
        assert result.ranked[0].article.title == "Kokoro (novel)"
        assert all(r.article.title != "Kokoro" for r in result.ranked)
        assert [n.message for n in told if n.code == "disambiguation"] == [
            "skipping disambiguation page: Kokoro"
        ]


def test_real_articles_and_questions_give_the_same(
    shared_data: Path, kiwix37: Callable[..., Kiwix]
) -> None:
    path = shared_data / "zims" / "wikipedia_en_squad_2026-06.zim"
    lines = (shared_data / "questions" / "en_squad.jsonl").read_text("utf-8").splitlines()
    zim, served = ZimCorpus(path), corpora_of(kiwix37(path))[0]
    for line in lines[:: len(lines) // 12]:
        question = json.loads(line)["question"]
        one, other = found(question, zim), found(question, served)
        assert [r.article.path for r in one.ranked] == [r.article.path for r in other.ranked]


def test_several_books_and_languages_are_one_list(
    make_zim: Callable[..., Path], kiwix37: Callable[..., Kiwix], kiwix33: Callable[..., Kiwix]
) -> None:
    english = make_zim(ARTICLES, name="wiki_en")
    german = make_zim(
        {"Kokoro (Roman)": "<p>Kokoro ist ein Roman von Natsume Sōseki aus dem Jahr 1914.</p>"},
        name="wiki_de",
        language="deu",
    )
    own = [ZimCorpus(english), ZimCorpus(german)]
    expected = [
        (r.article.corpus, r.article.path)
        for r in found("Who wrote the novel Kokoro?", *own).ranked
    ]
    assert expected[0] == ("wiki_en", "Kokoro_(novel)")
    for start in (kiwix37, kiwix33):
        served = sorted(corpora_of(start(english, german)), key=lambda c: c.name, reverse=True)
        assert [corpus.name for corpus in served] == ["wiki_en", "wiki_de"]
        result = found("Who wrote the novel Kokoro?", *served)
        assert [(r.article.corpus, r.article.path) for r in result.ranked] == expected
        asked = found("Wer schrieb den Roman Kokoro?", *served)
        assert asked.ranked[0].article.corpus == "wiki_de"


def test_a_zim_in_several_languages_and_a_root_prefix(
    make_zim: Callable[..., Path], kiwix37: Callable[..., Kiwix]
) -> None:
    path = make_zim(ARTICLES, redirects=REDIRECTS, name="wiki_mul", language="eng,rus")
    served = corpora_of(kiwix37(path, options=("-r", "/box")))[0]
    zim = ZimCorpus(path)
    assert served.describe().languages == zim.describe().languages == ("en", "ru")
    for corpus in (served, zim):
        assert found("Who wrote the novel Kokoro?", corpus).ranked
    article = served.read("Soseki", FOREVER)
    assert article is not None
    assert "/box/content/wiki_mul_2026-06/Natsume_S" in article.url


def test_a_zim_without_full_text_is_served_by_its_titles(
    make_zim: Callable[..., Path], kiwix37: Callable[..., Kiwix], kiwix33: Callable[..., Kiwix]
) -> None:
    path = make_zim(ARTICLES, name="titles_en", fulltext=False)
    corpora: list[Corpus] = [ZimCorpus(path)]
    corpora += [*corpora_of(kiwix37(path)), *corpora_of(kiwix33(path))]
    assert len(corpora) == 3
    for corpus in corpora:
        assert corpus.search("novel", 5, FOREVER).hits == ()
        result = found("When was Natsume Sōseki born?", corpus)
        assert result.ranked[0].article.title == "Natsume Sōseki"


def test_a_zim_without_any_index_is_found_by_whole_titles(make_zim: Callable[..., Path]) -> None:
    titles = ("Constant k filter", "The Gate", "B of the Bang", "Du Fu", "1933 hurricane in Cuba")
    path = make_zim({title: f"<p>{title} is known.</p>" for title in titles}, fulltext=False)
    # libzim writes a title index in any case: it is hidden under a name that nothing looks for.
    path.write_bytes(path.read_bytes().replace(b"title/xapian", b"title/xapiax"))
    corpus = ZimCorpus(path)
    for title in titles:
        for question in (title, f"What is {title}?", title.removeprefix("The ").lower()):
            ranked = found(question, corpus).ranked
            assert [r.article.title for r in ranked[:1]] == [title], question


def test_files_of_others_open_and_answer_or_are_left_alone(shared_data: Path) -> None:
    for name in ("zimfile.zim", "example.zim", "foo-zstd.zim", "poor.zim",
                 "tonedear.com_en_2024-09.zim"):  # fmt: skip
        corpus = ZimCorpus(shared_data / "zims" / name)
        corpus.describe()
        for hit in (*corpus.titles("a", 3, FOREVER), *corpus.search("music", 3, FOREVER).hits):
            corpus.read(hit.path, FOREVER)
    ray = ZimCorpus(shared_data / "zims" / "zimfile.zim")
    article = ray.read("Ray_Charles", FOREVER)
    assert article is not None
    assert article.path == "A/Ray_Charles"


# --- what goes wrong

GOOD = {"Kizu (river)": "<p>The Kizu is a river. It is 99 km long and has seven bridges.</p>"}
BROKEN = ("bad_mimetype_list", "offset_in_cluster", "outofbounds_clusterptrpos",
          "smaller_than_header")  # fmt: skip
QUESTION = "How long is the river Kizu?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ZIM folder with one good file."""
    made = tmp_path / "zims"
    made.mkdir()
    build_zim(made / "good_en_2026-06.zim", GOOD, name="good_en")
    return made


@pytest.mark.parametrize("damage", BROKEN)
def test_a_damaged_file_is_named_and_the_good_one_answers(
    run_cli: Cli, folder: Path, shared_data: Path, kiwix37: Callable[..., Kiwix], damage: str
) -> None:
    bad = folder / f"invalid.{damage}.zim"
    shutil.copy(shared_data / "zims" / "broken" / bad.name, bad)
    served = kiwix37(*sorted(folder.glob("*.zim")), options=("--skipInvalid",))
    for config in (
        {"zims": {"folder": str(folder)}},
        {"zims": {"folder": str(folder)}, "kiwix": {"url": served.url}},
    ):
        run = run_cli("search", "--json", QUESTION, config=config)
        assert run.code == 0, run.stderr
        document = run.json
        assert [row["title"] for row in document["data"]["results"]] == ["Kizu (river)"]
        assert any(bad.stem in warning["message"] for warning in document["warnings"])


@pytest.mark.parametrize("content", [b"", b"no ZIM at all\n" * 100])
def test_a_file_that_is_no_zim_is_named(run_cli: Cli, folder: Path, content: bytes) -> None:
    (folder / "notes.zim").write_bytes(content)
    run = run_cli("search", QUESTION, config={"zims": {"folder": str(folder)}})
    assert run.code == 0
    assert "Kizu (river)" in run.stdout
    assert "notes.zim" in run.stderr


def test_nothing_but_damaged_files_is_exit_1(run_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "zims").mkdir()
    (tmp_path / "zims" / "bad.zim").write_bytes(b"x")
    run = run_cli("search", QUESTION, config={"zims": {"folder": str(tmp_path / "zims")}})
    assert run.code == 1
    assert "bad.zim" in run.stderr


def test_a_truncated_file_beside_a_good_one(run_cli: Cli, folder: Path) -> None:
    whole = (folder / "good_en_2026-06.zim").read_bytes()
    (folder / "half_en_2026-06.zim").write_bytes(whole[: len(whole) // 2])
    run = run_cli("search", QUESTION, config={"zims": {"folder": str(folder)}})
    assert run.code == 0
    assert "half_en" in run.stderr


def test_kiwix_down_falls_back_to_the_files_and_says_so(run_cli: Cli, folder: Path) -> None:
    config = {"zims": {"folder": str(folder)}, "kiwix": {"url": refused_url()}}
    run = run_cli("search", "--json", QUESTION, config=config)
    assert run.code == 0
    assert run.json["data"]["results"][0]["url"].startswith("zim://good_en_2026-06.zim/")
    assert "kiwix_down" in [warning["code"] for warning in run.json["warnings"]]


def test_kiwix_down_and_no_files_is_exit_1_with_a_hint(run_cli: Cli, tmp_path: Path) -> None:
    config = {"zims": {"folder": str(tmp_path / "none")}, "kiwix": {"url": refused_url()}}
    run = run_cli("search", "--json", QUESTION, config=config)
    assert run.code == 1
    assert run.json["status"] == "failed"
    assert run.json["errors"][0]["code"] == "corpus_unavailable"
    assert run.json["errors"][0]["hint"]


@pytest.mark.parametrize(
    "behaviour", ["500", "404", "garbage", "not-utf8", "empty", "wrong-type", "cut", "reset"]
)
def test_a_server_that_is_no_kiwix_leads_to_the_files(
    run_cli: Cli, folder: Path, fault_server: Callable[..., FaultServer], behaviour: str
) -> None:
    server = fault_server(behaviour, script_all=True)
    config = {"zims": {"folder": str(folder)}, "kiwix": {"url": server.url}}
    run = run_cli("search", QUESTION, config=config)
    assert run.code == 0, run.stderr
    assert "Kizu (river)" in run.stdout
    assert server.url in run.stderr
    assert "Traceback" not in run.stderr


def test_a_server_that_hangs_costs_a_part_of_the_time_alone(
    run_cli: Cli, folder: Path, fault_server: Callable[..., FaultServer]
) -> None:
    server = fault_server("hang", script_all=True)
    config = {"zims": {"folder": str(folder)}, "kiwix": {"url": server.url}}
    run = run_cli("search", "--deadline", "1", QUESTION, config=config)
    assert run.code == 0, run.stderr
    assert "Kizu (river)" in run.stdout
    assert "in time" in run.stderr


CATALOG = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/terms/">
<entry><title>One</title><name>one</name><language>eng</language><articleCount>5000</articleCount>
<link type="text/html" href="/content/one_en_2026-06"/></entry>
<entry><title>No link</title></entry></feed>"""
HITS = """<?xml version="1.0" encoding="UTF-8"?>
<rss xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><channel>
<opensearch:totalResults>1,234</opensearch:totalResults>
<item><title>Kizu (river)</title><link>/content/one_en_2026-06/Kizu_%28river%29</link></item>
<item><title>Elsewhere</title><link>/other</link></item></channel></rss>"""
SUGGESTED = '[{"value":"V&amp;A","label":"V","kind":"path","path":"V&amp;A"},{"kind":"pattern"}]'
PAGE = "<h1>Kizu (river)</h1><p>The Kizu is a river. It is 99 km long.</p>"


def a_kiwix(**answers: Behaviour | str) -> Callable[[Request], Behaviour]:
    """A server that speaks as kiwix-serve does, but for what is given (``search=``, ``read=``)."""
    proper = {
        "catalog": Behaviour(body=CATALOG.encode(), content_type="application/atom+xml"),
        "search": Behaviour(body=HITS.encode(), content_type="application/rss+xml"),
        "suggest": Behaviour(body=SUGGESTED.encode(), content_type="application/json"),
        "content": Behaviour(body=PAGE.encode(), content_type="text/html"),
    }

    def respond(request: Request) -> Behaviour:
        what = request.path.split("/")[1]
        answer = answers.get(what, proper.get(what, "404"))
        return answer if isinstance(answer, Behaviour) else Behaviour(kind=answer)

    return respond


def kiwix_like(fault_server: Callable[..., FaultServer], **answers: Behaviour | str) -> KiwixCorpus:
    server = KiwixServer(fault_server(respond=a_kiwix(**answers)).url)
    return KiwixCorpus(server, server.books(FOREVER)[0])


def test_the_answers_of_the_newest_server_are_understood(
    fault_server: Callable[..., FaultServer],
) -> None:
    corpus = kiwix_like(fault_server)
    hits = corpus.search("kizu", 5, FOREVER)
    assert hits.total == 1234
    assert [hit.path for hit in hits.hits] == ["Kizu_(river)"]
    assert [hit.path for hit in corpus.titles("v", 5, FOREVER)] == ["V&A"]
    article = corpus.read("Kizu_(river)", FOREVER)
    assert article is not None
    assert article.title == "Kizu (river)"


@pytest.mark.parametrize("behaviour", ["500", "garbage", "not-utf8", "empty", "cut", "hang-mid"])
@pytest.mark.parametrize("what", ["search", "suggest", "content"])
def test_half_answers_and_garbage_are_a_failure_of_that_corpus(
    fault_server: Callable[..., FaultServer], behaviour: str, what: str
) -> None:
    corpus = kiwix_like(fault_server, **{what: behaviour})
    soon = Deadline(0.4 if behaviour == "hang-mid" else None)
    call = {
        "search": lambda: corpus.search("kizu", 5, soon),
        "suggest": lambda: corpus.titles("kizu", 5, soon),
        "content": lambda: corpus.read("Kizu", soon),
    }[what]
    if what == "content" and behaviour in ("garbage", "not-utf8", "empty"):
        article = call()  # a page may be anything; what is no HTML says nothing
        assert article is None or "\ufffd" in str(article) or article.sections == ()
        return
    with pytest.raises(CorpusError) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("version", ["3.7", "3.3"])
def test_an_excerpt_that_the_server_cannot_show_costs_that_hit_alone(
    version: str, tmp_path: Path
) -> None:
    try:
        command(version)
    except Unavailable as reason:
        pytest.skip(f"kiwix-serve {version}: {reason}")
    path = tmp_path / "charts_en_2026-06.zim"
    pages = {f"Chart {n}": f"<p>A chart that uses helm, the {n}th.</p>" for n in range(12)}
    build_zim(path, pages | {"Values": "<p>A chart of helm says {{ .Values </p>"}, name="charts_en")
    with Kiwix(version, [path]) as served:
        corpus = corpora_of(served)[0]
        hits = corpus.search("helm chart", 20, FOREVER)
    assert sorted(hit.title for hit in hits.hits) == sorted(pages)
    assert hits.total == 13


def test_a_search_that_always_fails_is_given_up_soon(
    fault_server: Callable[..., FaultServer],
) -> None:
    corpus = kiwix_like(fault_server, search="500")
    before = corpus.server.requests
    with pytest.raises(CorpusError, match="HTTP 500"):
        corpus.search("kizu", 20, FOREVER)
    assert corpus.server.requests - before <= 12


@pytest.mark.parametrize("body", [b"{}", b"[1]", b'[{"kind":"path"}]', b"null", b'"x"'])
def test_suggestions_of_another_shape_are_a_failure(
    fault_server: Callable[..., FaultServer], body: bytes
) -> None:
    corpus = kiwix_like(fault_server, suggest=Behaviour(body=body))
    if body == b"{}":
        assert corpus.titles("kizu", 5, FOREVER) == ()
        return
    with pytest.raises(CorpusError):
        corpus.titles("kizu", 5, FOREVER)


def test_a_redirect_to_another_server_is_not_followed(
    fault_server: Callable[..., FaultServer],
) -> None:
    other = fault_server()
    away = Behaviour(kind="302", headers={"Location": f"{other.url}/content/x"})
    corpus = kiwix_like(fault_server, content=away)
    with pytest.raises(CorpusError, match="not followed"):
        corpus.read("Kizu", FOREVER)
    assert other.requests == []
    circle = Behaviour(kind="302", headers={"Location": "/content/"})
    loop = kiwix_like(fault_server, content=circle)
    with pytest.raises(CorpusError, match="redirects"):
        loop.read("Kizu", FOREVER)


def test_a_book_without_index_is_asked_once(fault_server: Callable[..., FaultServer]) -> None:
    none = Behaviour(kind="404", body=b"Fulltext search unavailable")
    server = fault_server(respond=a_kiwix(search=none))
    kiwix = KiwixServer(server.url)
    corpus = KiwixCorpus(kiwix, kiwix.books(FOREVER)[0])
    for _ in range(3):
        assert corpus.search("kizu", 5, FOREVER).hits == ()
    assert sum(request.path == "/search" for request in server.requests) == 1


def test_one_corpus_that_fails_is_warned_of_while_another_answers(
    folder: Path, fault_server: Callable[..., FaultServer]
) -> None:
    bad = kiwix_like(fault_server, search="500", suggest="500")
    told: list[WarningMessage] = []
    good = ZimCorpus(folder / "good_en_2026-06.zim")
    result = find(QUESTION, [bad, good], deadline=FOREVER, warn=told.append)
    assert [r.article.title for r in result.ranked] == ["Kizu (river)"]
    assert [warning.code for warning in told] == ["corpus_failed"]
    assert result.partial


def test_an_article_that_cannot_be_read_is_warned_of(
    folder: Path, fault_server: Callable[..., FaultServer]
) -> None:
    bad = kiwix_like(fault_server, content="500")
    told: list[WarningMessage] = []
    good = ZimCorpus(folder / "good_en_2026-06.zim")
    result = find(QUESTION, [bad, good], deadline=FOREVER, warn=told.append)
    assert [r.article.corpus for r in result.ranked] == ["good_en"]
    assert "article_unreadable" in {warning.code for warning in told}


def test_what_was_found_before_the_deadline_is_used_and_said(
    folder: Path, fault_server: Callable[..., FaultServer]
) -> None:
    slow = kiwix_like(fault_server, search="hang")
    told: list[WarningMessage] = []
    good = ZimCorpus(folder / "good_en_2026-06.zim")
    result = find(QUESTION, [good, slow], deadline=Deadline(1.5), warn=told.append)
    assert result.partial
    assert "deadline" in {warning.code for warning in told}
    assert result.steps


# --- what native code says


def test_missing_stemmers_are_not_told_to_people_who_cannot_help_it(
    run_cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "wiki_zh_2026-06.zim"
    build_zim(path, {"小说": "<p>小说是一种文学。</p>"}, language="zho")
    run = run_cli("search", "--zim", path, "小说是什么?", process=True)
    assert (run.code, run.stderr) == (0, "")


DEADLY = "Who was the Super Bowl champion in the American Football Conference?"


@pytest.fixture
def with_rotten(shared_data: Path, tmp_path: Path) -> Path:
    """A folder with a file that ends the process that searches it, and a good one after it."""
    folder = tmp_path / "rotten"
    folder.mkdir()
    shutil.copy(shared_data / "zims" / "hostile" / "rotten.zim", folder / "a_rotten_2026-06.zim")
    shutil.copy(shared_data / "zims" / "wikipedia_en_squad_2026-06.zim", folder)
    return folder


@pytest.mark.parametrize("command", ["ask", "search", "passages"])
def test_a_file_that_ends_its_process_costs_a_warning_and_no_answer(
    run_cli: Cli, with_rotten: Path, command: str
) -> None:
    config = {"zims": {"folder": str(with_rotten)}}
    run = run_cli(command, "--json", DEADLY, config=config, process=True)
    assert run.code == 0, run.stderr
    document = run.json
    failed = [w["message"] for w in document["warnings"] if w["code"] == "corpus_failed"]
    assert len(failed) == 1
    assert "a_rotten_2026-06.zim" in failed[0]
    assert "wikipedia_en_squad" in run.stdout
    assert "Traceback" not in run.stderr


def test_a_file_that_ends_its_process_alone_is_named(run_cli: Cli, with_rotten: Path) -> None:
    rotten = with_rotten / "a_rotten_2026-06.zim"
    run = run_cli("search", "--json", "--zim", rotten, DEADLY, process=True)
    assert run.code in (0, 1, 3)  # its title index may still find something
    assert any(rotten.name in warning["message"] for warning in run.json["warnings"])


def test_many_questions_in_one_process_outlive_such_a_file(
    run_cli: Cli, with_rotten: Path, tmp_path: Path
) -> None:
    lines = [DEADLY, "Where is Warsaw?", DEADLY, "When did Super Bowl 50 take place?"] * 2
    batch = tmp_path / "questions.jsonl"
    batch.write_text("".join(json.dumps({"question": line}) + "\n" for line in lines), "utf-8")
    config = {"zims": {"folder": str(with_rotten)}}
    run = run_cli("ask", "--batch", batch, "--jobs", "4", config=config, process=True)
    answers = (tmp_path / "questions.answers.jsonl").read_text("utf-8")
    documents = [json.loads(line) for line in answers.splitlines()]
    assert len(documents) == len(lines), run.stderr
    assert {document["exit_code"] for document in documents} == {0}
