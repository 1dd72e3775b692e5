"""Pickles of strangers: plain values come out, anything else is refused."""

from __future__ import annotations

import pickle
import subprocess
from datetime import UTC, date, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.archives.pickles import unpickled
from lukasa.errors import InputError

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(plain, st.sampled_from([2, 3, 4, 5]))
def test_plain_values_come_back(value: object, protocol: int):
    assert unpickled(pickle.dumps(value, protocol)) == value


def test_times_and_ids_come_back():
    value = {"at": datetime(2026, 1, 2, tzinfo=UTC), "on": date(2026, 1, 2), "id": UUID(int=7)}
    assert unpickled(pickle.dumps(value)) == value


@pytest.mark.parametrize("value", [print, exec, subprocess.Popen, object(), set, pickle.loads])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_anything_else_is_refused_by_name(value: object, protocol: int):
    with pytest.raises(InputError, match="which a store of mem0 never holds"):
        unpickled(pickle.dumps(value, protocol))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_an_input_error(content: bytes):
    try:
        unpickled(content)
    except InputError as error:
        assert str(error).startswith("a pickle that is not read: it ")
