import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.text.sentences import pieces, sentences

ANY_TEXT = st.text(st.characters(codec=None)) | st.text(st.sampled_from("ab .!?\n。é😀"), max_size=300)


def cut(text: str, language: str | None = None) -> list[str]:
    return [text[start:end] for start, end in sentences(text, language)]


def test_sentences_end_where_a_reader_ends_them():
    text = "Dr. Smith called. How are you?  Fine 😀!\n\nNew paragraph."
    assert cut(text) == ["Dr. Smith called. ", "How are you?  ", "Fine 😀!\n\n", "New paragraph."]


def test_sentences_of_chinese_need_no_spaces():
    assert cut("我住在北京。你呢？", "zh") == ["我住在北京。", "你呢？"]


def test_an_over_long_sentence_is_split_at_its_lines():
    text = "\n".join(f"item {n} without a full stop" for n in range(100))
    assert len(cut(text)) == 100


def test_a_sentence_is_not_cut_where_a_long_text_is_looked_at_in_parts():
    text = "".join(f"This is sentence number {n} of a text. " for n in range(600))
    assert cut(text) == [f"This is sentence number {n} of a text. " for n in range(600)]


@pytest.mark.parametrize("space", ["\u3000", "\u2003", "\x85", "\u2028", "\xa0"])
def test_a_white_space_of_several_bytes_before_a_full_stop_is_a_white_space(space: str):
    assert "".join(cut(f"Who? I{space}. And A{space}.")) == f"Who? I{space}. And A{space}."


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_blank_text_has_no_sentences(text: str):
    assert sentences(text) == []
    assert pieces(text, 10) == []


@given(ANY_TEXT, st.sampled_from(["en", "zh", None, "nonsense"]))
def test_sentences_tile_the_text(text: str, language: str | None):
    found = cut(text, language)
    assert "".join(found) == ("" if not text.strip() else text)
    assert all(sentence.strip() for sentence in found)


def test_pieces_are_cut_between_sentences_first():
    text = "One two three. Four five six. Seven eight."
    assert [text[a:b] for a, b in pieces(text, 30)] == ["One two three. Four five six.", "Seven eight."]


def test_pieces_are_cut_between_words_next():
    text = "one two three four five"
    assert [text[a:b] for a, b in pieces(text, 9)] == ["one two", "three", "four five"]


@pytest.mark.parametrize("unit", ["“", "'", "“A. ", "a.b、ไの。", "(", " ", "\n", "a", ".", "!?", '"a. '])
def test_time_is_linear(unit: str):
    text = unit * (100_000 // len(unit))
    sentences("loads the splitter")
    started = time.process_time()
    pieces(text, 480)
    assert time.process_time() - started < 2


def test_pieces_cut_a_word_that_is_too_long():
    assert pieces("abcdefgh", 3) == [(0, 3), (3, 6), (6, 8)]


def test_a_short_text_is_one_piece_without_outer_space():
    assert pieces("  short. ", 100) == [(2, 8)]


def test_pieces_need_room_for_a_character():
    with pytest.raises(ValueError, match="limit_chars must be at least 1"):
        pieces("text", 0)


@given(ANY_TEXT, st.integers(1, 40))
def test_pieces_hold_all_of_the_text_in_order_within_the_limit(text: str, limit: int):
    found = pieces(text, limit)
    assert all(0 < end - start <= limit for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    held = "".join(text[start:end] for start, end in found)
    assert "".join(held.split()) == "".join(text.split())
