from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.model.reasoning import Stripper, strip

FORMS = {
    "<think>no</think>yes": "yes",
    "<think>\nno\n</think>\n\nyes [1].": "yes [1].",
    "<THINK>no</Think>yes": "yes",
    "<thinking>no</thinking>yes": "yes",
    "<reasoning depth='2'>no</reasoning>yes": "yes",
    "<thought>no</thought>yes": "yes",
    "<seed:think>no</seed:think>yes": "yes",
    "[THINK]no[/THINK]yes": "yes",
    "◁think▷no◁/think▷yes": "yes",
    "<|begin_of_thought|>no<|end_of_thought|>yes": "yes",
    "<|START_THINKING|>no<|END_THINKING|>yes": "yes",
    "<unused94>thought no<unused95>yes": "yes",
    "<|channel>thought\nno<channel|>yes": "yes",
    (
        "<|channel|>analysis<|message|>no<|end|>"
        "<|start|>assistant<|channel|>final<|message|>yes<|return|>"
    ): "yes",
    "analysisThe user asks. 1999 [2].assistantfinalHe was born [1].": "He was born [1].",
    "assistantanalysisNo.assistantfinalYes": "Yes",
    "analysisnever closed": "analysisnever closed",
    "analysisNever closed": "",
    "<|channel|>analysis<|message|>no<|end|><|start|>assistant<|channel|>final <|constrain|>json"
    "<|message|>yes": "yes",
    "final <|constrain|>text<|message|>yes": "yes",
    "Here is my thought process:\n1999.\n\nHere is my response:\nyes": "yes",
    "Here's my thought process: no. Here's my response: yes": "yes",
    "<|think|>no<|/think|>yes": "yes",
    "<mm:think>no</mm:think>yes": "yes",
    '<details type="reasoning" done="true" duration="5">\n<summary>no</summary>\nno\n</details>\n'
    "yes": "yes",
    "<details><summary>a</summary>b</details>": "<details><summary>a</summary>b</details>",
    "<analysis>no</analysis>yes": "yes",
    "&lt;think&gt;no&lt;/think&gt;yes": "yes",
    "<answer>yes</answer>": "yes",
    "<think>no</think><response>yes</response>": "yes",
    "assistant\nyes": "yes",
    "Assistant: yes": "yes",
    "### Response:\nyes": "yes",
    "<|start_header_id|>assistant<|end_header_id|>\n\nyes": "yes",
    "Analysis of the text": "Analysis of the text",
    "final answers are here": "final answers are here",
    "AT&T & a &lt b": "AT&T & a &lt b",
    "only a closing tag</think>yes": "yes",
    "never opened\n\n</thinking>\nyes": "yes",
    "<think>never closed": "",
    "yes <think>never closed": "yes",
    "<think></think>yes": "yes",
    "<think>a<think>b</think>c</think>yes": "yes",
    "yes<think>a</think>, and <think>b</think>yes": "yes, and yes",
    "all of it</think>": "",
    "yes<|im_end|>": "yes",
    "1 < 2 and a <b> tag [THIN] [1]": "1 < 2 and a <b> tag [THIN] [1]",
    "I think <thinkers> differ": "I think <thinkers> differ",
    "": "",
    "ends with <": "ends with <",
    "ends with [": "ends with [",
}


def shown(chunks: list[str]) -> tuple[str, str]:
    """What a terminal shows in the end, and the stripper's own text."""
    stripper, screen = Stripper(), ""
    for piece in [*(stripper.feed(chunk) for chunk in chunks), stripper.finish()]:
        screen = ("" if piece.retract else screen) + piece.text
    return screen, stripper.text


@pytest.mark.parametrize(("written", "visible"), FORMS.items())
def test_each_form_is_stripped(written: str, visible: str) -> None:
    assert strip(written) == visible


@pytest.mark.parametrize(("written", "visible"), FORMS.items())
def test_letter_by_letter_gives_the_same(written: str, visible: str) -> None:
    screen, text = shown(list(written))
    assert text == visible
    assert screen.strip() == visible


PARTS = st.sampled_from(
    [
        *["<think>", "</think>", "<thinking a>", "</reasoning>", "[THINK]", "[/THINK]", "◁think▷"],
        *["<|channel|>", "analysis", "final", "<|message|>", "<|start|>", "assistant", "<|end|>"],
        *["<|channel>thought\n", "<channel|>", "</s>", "<", ">", "[", "]", "/", "think", "|"],
        *["analysis", "A", "assistantfinal", "Here is my thought process:", "&lt;think&gt;"],
        *["<details type='reasoning'>", "</details>", "Here is my response:", "<answer>", "final"],
        *["a", " ", "\n", "é", "中", "<b>", "[1]", "<|", "as", "◁/think▷", "<unused94>"],
    ]
)


@given(st.lists(PARTS, max_size=14).map("".join), st.lists(st.integers(1, 7), min_size=1))
def test_every_chunking_gives_the_same(text: str, sizes: list[int]) -> None:
    chunks, position, turn = [], 0, 0
    while position < len(text):
        size = sizes[turn % len(sizes)]
        chunks.append(text[position : position + size])
        position, turn = position + size, turn + 1
    screen, visible = shown(chunks)
    assert visible == strip(text)
    assert screen.strip() == visible


@given(
    st.text(alphabet="abc <>/[]|", max_size=40),
    st.text(alphabet="xyz", min_size=1, max_size=20),
    st.integers(1, 5),
)
def test_no_letter_of_an_opened_block_is_ever_shown(thinking: str, answer: str, size: int) -> None:
    written = f"<think>{thinking}</think>{answer}"
    stripper, leaked = Stripper(), ""
    for start in range(0, len(written), size):
        leaked += stripper.feed(written[start : start + size]).text
    leaked += stripper.finish().text
    assert leaked == answer


def test_a_closing_tag_alone_takes_back_what_was_shown() -> None:
    stripper = Stripper()
    assert stripper.feed("Let me see. ").text == "Let me see. "
    piece = stripper.feed("</think>In 1867.")
    assert piece.retract
    assert piece.text == "In 1867."
    assert stripper.text == "In 1867."


def test_ordinary_text_is_not_held_back() -> None:
    stripper = Stripper()
    assert stripper.feed("He was born in 1867 [1]").text == "He was born in 1867 [1]"
