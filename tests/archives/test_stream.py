"""JSON piece by piece is the JSON that it is whole."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.archives import stream
from lukasa.archives.shape import Shape, shape
from lukasa.archives.stream import BadJson, TooLong, elements, pairs

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@pytest.fixture(autouse=True, params=[1, 7, 1 << 18])
def chunk(request: pytest.FixtureRequest) -> Iterator[None]:
    """How much is read at once: a break may be anywhere."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stream, "_CHUNK", request.param)
        yield


def taken(content: str | bytes, place: str) -> list[object]:
    return list(elements(io.BytesIO(content.encode() if isinstance(content, str) else content), place))


@given(st.lists(values, max_size=5), st.booleans(), st.sampled_from([None, 2]))
def test_a_list_comes_element_by_element(given_: list[object], escaped: bool, indent: int | None):
    text = json.dumps(given_, ensure_ascii=escaped, indent=indent)
    assert taken(text, "item") == given_
    assert taken("\ufeff" + text, "item") == given_


@given(st.lists(values, max_size=5))
def test_a_list_in_an_object_comes_element_by_element(given_: list[object]):
    text = json.dumps({"before": given_, "results": given_, "after": {"results": 3}})
    assert taken(text, "results") == given_


@given(st.lists(values, max_size=5), st.sampled_from(["\n", " ", "\r\n\n"]))
def test_documents_come_one_after_the_other(given_: list[object], between: str):
    assert taken(between.join(map(json.dumps, given_)), "") == given_


@given(st.dictionaries(st.text(), values, max_size=5))
def test_an_object_comes_pair_by_pair(given_: dict[str, object]):
    text = json.dumps({"before": [given_], "docstore": given_, "index_to_id": {}})
    assert dict(pairs(io.BytesIO(text.encode()), "docstore")) == given_


@given(st.lists(st.lists(values, max_size=2), min_size=1, max_size=3), st.data())
def test_what_breaks_off_says_so_after_what_is_whole(given_: list[list[object]], data: st.DataObject):
    text = json.dumps(given_)
    cut = data.draw(st.integers(0, len(text) - 1))
    came: list[object] = []
    with pytest.raises(BadJson):
        for one in elements(io.BytesIO(text[:cut].encode()), "item"):
            came.append(one)
    assert came == given_[: len(came)]


@given(st.binary(max_size=60), st.sampled_from(["", "item", "results"]))
def test_any_bytes_are_values_or_bad_json(content: bytes, place: str):
    try:
        taken(content, place)
    except BadJson as error:
        assert "JSON" in str(error)
    found = shape(io.BytesIO(content))
    assert found is None or isinstance(found, Shape)


@pytest.mark.parametrize(
    "bad", ['[{"a": 1} {"b": 2}]', '["a", oops, "b"]', "[1, 2", "[,]", "{", '["\\x"]', "nul"]
)
def test_what_is_no_json_is_refused(bad: str):
    with pytest.raises(BadJson):
        taken(bad, "item")


def test_what_is_broken_in_the_middle_is_not_read_to_the_end():
    rest = io.BytesIO(b'[{"a": 1, oops}' + b" " * 20 + b'{"x": "' + b"x" * 5_000_000)
    with pytest.raises(BadJson):
        list(elements(rest, "item"))
    assert rest.tell() < 1_000_000


def test_control_characters_and_half_surrogates_are_read():
    assert taken('["a\tb\nc", "\\ud83d", "\\ud83d\\ude00"]', "item") == ["a\tb\nc", "\ud83d", "😀"]


def test_bytes_that_are_no_utf8_are_refused():
    with pytest.raises(BadJson, match="UTF-8"):
        taken(b'["a", "\xff"]', "item")
    with pytest.raises(BadJson):
        taken(b'["a", "\xe5\x96', "item")


@pytest.mark.parametrize("text", ["[" * 100_000, '[{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_what_is_nested_without_end_is_refused_at_once(text: str):
    begun = time.perf_counter()
    with pytest.raises(BadJson):
        taken(text, "item")
    assert shape(io.BytesIO(text.encode())) is None
    assert time.perf_counter() - begun < 10


def test_an_entry_that_is_too_long_is_not_held(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "MOST_BYTES", 1000)
    assert taken(json.dumps(["x" * 900] * 20), "item") == ["x" * 900] * 20
    with pytest.raises(TooLong, match="1,000"):
        taken(json.dumps(["a", "x" * 1_000_000]), "item")


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ('[{"title": "x", "mapping": {', "chatgpt", "item"),
        ('{"conversations": [{"mapping": {', "chatgpt", "conversations"),
        ('[{"uuid": "x", "name": "y", "chat_messages": [', "claude", "item"),
        ('{"conversations_memory": "', "claude", ""),
        ('{"results": [{"id": "x", "memory": "y"', "mem0", "results"),
        ('[1, {"id": "x", "memory": "y"', "mem0", "item"),
        ('{"id": "x", "memory": "y"}\n{', "mem0", ""),
        ('{"docstore": {', "mem0", ""),
        ('{"user_id": "x", "messages": [', "jsonl", ""),
        ('[{"role": "user"', "jsonl", "item"),
    ],
)
def test_the_first_keys_tell_what_it_is(text: str, kind: str, place: str):
    found = shape(io.BytesIO(text.encode()))
    assert found is not None
    assert (found.kind, found.place) == (kind, place)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "3", "[3]", '[{"a": {"mapping": 3}}]', '{"results": []}', "x"]
)
def test_where_nothing_tells_nothing_is_said(text: str):
    assert shape(io.BytesIO(text.encode())) is None
