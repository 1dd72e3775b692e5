from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.models.embed.windows import cut, pool, windows

SENTENCES = [f"Sentence number {n} speaks of subject {n * 7}." for n in range(400)]


def test_a_short_text_is_one_window_and_unchanged() -> None:
    assert windows("  Alice likes tea. Bob does not.", limit=480, most=8) == [
        "  Alice likes tea. Bob does not."
    ]


def test_windows_begin_and_end_at_sentence_borders() -> None:
    text = " ".join(SENTENCES[:40])
    found = windows(text, limit=300, most=16)
    assert len(found) > 1
    for window in found:
        assert len(window) <= 300
        assert window.lstrip().startswith("Sentence")
        assert window.rstrip().endswith(".")


def test_windows_are_filled_with_as_many_sentences_as_fit() -> None:
    text = " ".join(SENTENCES[:40])
    assert len(windows(text, limit=480, most=16)) <= len(text) // 400 + 1


def test_a_text_of_few_windows_is_read_whole() -> None:
    text = " ".join(SENTENCES[:40])
    assert "".join(windows(text, limit=480, most=16)).replace(" ", "") == text.replace(" ", "")


def test_a_longer_text_is_read_from_its_beginning_to_its_end() -> None:
    text = " ".join(SENTENCES)
    found = windows(text, limit=200, most=8)
    assert len(found) == 8
    places = [text.index(window) for window in found]
    assert places == sorted(places)
    assert places[0] == 0
    assert places[-1] > len(text) - 500
    gaps = [after - before for before, after in pairwise(places)]
    assert max(gaps) < 2 * min(gaps)


def test_a_word_of_100_000_characters_is_cut_hard() -> None:
    found = windows("x" * 100_000, limit=480, most=8)
    assert len(found) == 8
    assert all(0 < len(window) <= 480 for window in found)


def test_ten_megabytes_are_cut_in_no_time() -> None:
    text = "All work and no play makes Jack a dull boy. " * 230_000
    start = time.perf_counter()
    found = windows(text, limit=480, most=16)
    assert time.perf_counter() - start < 2
    assert len(found) == 16


def test_words_far_apart_are_found() -> None:
    assert windows("  first" + " " * 100_000 + "last  ", limit=20, most=4) == ["first", "last"]


@given(st.text(max_size=400), st.integers(1, 40), st.integers(1, 6))
def test_any_text_is_cut_within_the_limits(text: str, limit: int, most: int) -> None:
    found = windows(text, limit=limit, most=most)
    assert len(found) <= most
    assert all(len(window) <= limit and window in text for window in found)


@given(st.text(max_size=300).filter(lambda text: bool(text.strip())), st.integers(1, 40))
def test_a_text_that_can_be_read_has_a_window(text: str, limit: int) -> None:
    assert windows(text, limit=limit, most=4)


def test_one_window_keeps_its_row_bit_for_bit() -> None:
    rows = np.array([[0.6, 0.8], [0.1, 0.2]], dtype=np.float32)  # the second is not even of unit length
    assert np.array_equal(pool(rows, cut(["a", "b"], limit=9, most=3)), rows)


def test_pooled_rows_are_the_mean_weighted_by_length() -> None:
    made = cut(["one", "aaaaaaaaa" + "bbb"], limit=9, most=3)
    assert made.windows == ["one", "aaaaaaaaa", "bbb"]
    pooled = pool(np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32), made)
    assert pooled[1] == pytest.approx(np.array([9, 3]) / np.hypot(9, 3))


def test_windows_that_cancel_out_leave_the_first_vector() -> None:
    made = cut(["aaabbb"], limit=3, most=2)
    pooled = pool(np.array([[1, 0], [-1, 0]], dtype=np.float32), made)
    assert pooled.tolist() == [[1, 0]]
