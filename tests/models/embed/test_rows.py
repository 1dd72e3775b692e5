from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.errors import EmbeddingError
from lukasa.models.embed.rows import blank, readable, unit_rows

FAULTS: list[tuple[object, str]] = [
    ([[1.0, 0.0]], "got 1"),
    ([[1.0, 0.0]] * 3, "got 3"),
    ([1.0, 0.0], "shape"),
    ([[1.0, 0.0], [1.0]], "equal length"),
    ([[1.0, 0.0], ["a", "b"]], "numbers"),
    (None, "numbers|shape"),
    ([[1.0, 0.0], [float("nan"), 0.0]], "NaN"),
    ([[1.0, 0.0], [float("inf"), 0.0]], "infinity"),
    ([[1.0, 0.0], [0.0, 0.0]], "zero"),
    ([[], []], "zero"),
]


@pytest.mark.parametrize(("values", "says"), FAULTS)
def test_bad_rows_are_refused_by_name(values: object, says: str) -> None:
    with pytest.raises(EmbeddingError, match=says) as caught:
        unit_rows(values, count=2, provider="acme")
    assert caught.value.provider == "acme"
    assert not caught.value.retryable


def test_rows_are_scaled_to_unit_length() -> None:
    assert unit_rows([[3, 4], [1e30, 0]], count=2, provider="acme") == pytest.approx(
        np.array([[0.6, 0.8], [1, 0]])
    )


def test_unit_rows_keep_their_bits_and_are_a_copy() -> None:
    given_rows = np.array([[0.6, 0.8000001]], dtype=np.float32)
    rows = unit_rows(given_rows, count=1, provider="acme")
    assert np.array_equal(rows, given_rows)
    assert rows is not given_rows


@pytest.mark.parametrize("text", ["", " ", "\n", "\0", "\x01\x02", "\u200b\ufeff", "\u3000", "\ud800"])
def test_texts_without_a_visible_character_are_blank(text: str) -> None:
    assert blank(text)
    with pytest.raises(EmbeddingError, match="text 1 is blank"):
        readable(["fine", text], provider="acme")


@given(st.text())
def test_what_is_readable_can_be_encoded_and_holds_no_nul(text: str) -> None:
    try:
        (cleaned,) = readable([text], provider="acme")
    except EmbeddingError:
        return
    assert b"\0" not in cleaned.encode()
