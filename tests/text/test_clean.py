import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.text.clean import clean

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("plain text", "plain text"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x00b\x07c\x7fd\x9fe", "abcde"),
        ("page one\x0cpage two\x0bline\x85end", "page one\npage two\nline\nend"),
        ("\ud83d\ude00", "😀"),
        ("lone \ud83d and \ude00.", "lone \ufffd and \ufffd."),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\x00\ude00", "\ufffd\ufffd"),
        ("\r\x00\n", "\n\n"),
        ("  e\u0301 ﬁ \u200d ", "  e\u0301 ﬁ \u200d "),
    ],
)
def test_only_what_no_database_accepts_is_changed(given_text: str, expected: str):
    assert clean(given_text) == expected


def test_a_clean_text_is_returned_as_it_is():
    text = "Ich heiße Zoë 😀\n"
    assert clean(text) is text


@given(ANY_TEXT)
def test_any_text_becomes_valid_and_stays_so(text: str):
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert not [c for c in cleaned if unicodedata.category(c) == "Cc" and c not in "\n\t"]
    assert clean(cleaned) == cleaned
