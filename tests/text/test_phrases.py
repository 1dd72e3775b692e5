"""Phrases finds what a search for the same alternatives at word starts finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.text.phrases import Phrases, alternatives, beginnings

PATTERNS = {
    "habit": r"never|al(?:ways|most)|(?:on )?mondays?|\d+ times|i (?:do|am)\b|every (?:day|week)",
    "kin": r"(?:my|our) (?:\w+ ){0,2}?(?:wife|dog)s?\b|x\b",
}
TEXTS = st.text(st.sampled_from("neveralwysmondi x'0 3tkwfgu!"), max_size=60) | st.lists(
    st.sampled_from(
        [
            *(
                "never",
                "always",
                "on",
                "mondays",
                "3",
                "times",
                "i",
                "am",
                "do",
                "my",
                "our",
                "big",
                "wife",
                "x",
            )
        ]
    ),
    max_size=8,
).map(" ".join)


@given(text=TEXTS)
def test_the_table_finds_what_a_search_finds(text: str) -> None:
    wanted = {name for name, pattern in PATTERNS.items() if re.search(rf"(?<![a-z0-9_'])(?:{pattern})", text)}
    assert Phrases(PATTERNS).found(text) == wanted


def test_alternatives_are_those_of_the_outermost_level() -> None:
    assert alternatives(r"a(?:b|c)|[|x]|d\|e") == ["a(?:b|c)", "[|x]", r"d\|e"]


def test_a_beginning_that_can_be_anything_is_refused() -> None:
    with pytest.raises(ValueError, match="does not begin with a letter"):
        list(beginnings(r"\w+ing"))
    with pytest.raises(ValueError, match="repetition"):
        list(beginnings("(?:ab)*c"))
