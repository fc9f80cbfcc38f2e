import json

import pytest

from infoforge.contract import UsageError
from infoforge.evaluate.questions import load, sample


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_question_needs_nothing_but_itself(tmp_path):
    path = write(
        tmp_path / "q.jsonl",
        '{"question": "Who wrote Kokoro?"}',
        "",
        '{"id": "b", "question": " When?\\n ", "title": ["Kokoro", "Kokoro (novel)"], '
        '"answers": ["1914", " "], "lang": "en", "more": 1}',
    )
    one, two = load(path)
    assert (one.id, one.text, one.titles, one.answers) == ("1", "Who wrote Kokoro?", (), ())
    assert (two.id, two.text, two.language) == ("b", "When?", "en")
    assert (two.titles, two.answers) == (("Kokoro", "Kokoro (novel)"), ("1914",))


def test_a_byte_order_mark_and_line_separators_inside_texts_do_no_harm(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text("\ufeff" + '{"question": "Who\u2028wrote it?"}', encoding="utf-8")
    assert [q.text for q in load(path)] == ["Who wrote it?"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2 is no JSON"),
        ("[1]", "line 2 has no question"),
        ('{"question": 7}', "line 2 has no question"),
        ('{"question": "?!"}', "line 2: the question is empty"),
        ('{"question": "Who?", "answers": [1914]}', "line 2: answers is no string"),
        ('{"question": "Who?", "id": "1"}', "two questions have the id 1"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, said):
    path = write(tmp_path / "q.jsonl", '{"question": "Who wrote Kokoro?"}', line)
    with pytest.raises(UsageError, match=said):
        load(path)


def test_no_file_no_questions_no_utf8(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        load(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="no question in"):
        load(write(tmp_path / "empty.jsonl", ""))
    (tmp_path / "latin.jsonl").write_bytes(b'{"question": "S\xf4seki?"}')
    with pytest.raises(UsageError, match="not UTF-8"):
        load(tmp_path / "latin.jsonl")


def test_samples_are_seeded(tmp_path):
    lines = [json.dumps({"question": f"Question {n}?"}) for n in range(50)]
    every = load(write(tmp_path / "q.jsonl", *lines))
    first = [q.id for q in sample(every, 10, 1)]
    assert first == [q.id for q in sample(every, 10, 1)]
    assert first != [q.id for q in sample(every, 10, 2)]
    assert len(set(first)) == 10
    assert sample(every, 0, 1) == sample(every, 99, 1) == every
