"""Lines of messages: any bytes are a message, a conversation, or an error that says why not."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.archives import base, jsonl
from lukasa.archives.base import Conversation, Problem
from lukasa.archives.parts import MOST, Part, parts
from lukasa.errors import MessageError


def entries(number: int, content: bytes) -> list[Part]:
    said = jsonl.conversation(number, content)
    return [] if said is None else list(parts("jsonl", said, default={}, nobody={"user_id": "me"}))


@given(st.binary())
def test_any_bytes_are_entries_or_a_message_error(content: bytes):
    try:
        found = entries(1, content)
    except MessageError:
        return
    assert all(entry.ids for entry in found)


@given(st.lists(st.text(), min_size=1, max_size=200))
def test_the_parts_of_a_line_are_the_whole_line_in_order(texts: list[str]):
    messages = [{"role": "user", "content": text} for text in texts]
    content = json.dumps({"messages": messages}).encode()
    found = entries(7, content)
    assert [message for entry in found for message in entry.messages] == messages
    assert len({entry.key for entry in found}) == len(found)
    assert max(len(entry.messages) for entry in found) <= MOST


def test_the_key_of_a_line_is_the_one_of_the_versions_before():
    (entry,) = entries(3, b'{"role": "user", "content": "tea at four"}')
    assert entry.key == ("ingest:3.0:3d7fe1d26a5a1eb7293fc90e3aa24cd491db0e2b34552ae5da369256cdb074ba")
    assert entry.shorter == ()


@given(st.binary())
def test_every_byte_of_a_stream_is_counted(content: bytes):
    sizes: list[int] = []
    for entry in jsonl.read(io.BytesIO(content), sizes.append):
        assert isinstance(entry, Conversation | Problem)
    assert sum(sizes) == len(content)


def test_a_line_without_end_is_not_held(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jsonl, "MOST_BYTES", 100)
    stream = io.BytesIO(b'{"role": "user", "content": "x"}\n' + b"x" * 1000 + b'\n{"content": "y"}')
    before, long, after = jsonl.read(stream, lambda _: None)
    assert isinstance(long, Problem)
    assert long.where == "line 2"
    assert isinstance(before, Conversation)
    assert isinstance(after, Conversation)
    assert after.where == "line 3"
    assert base.MOST_BYTES > 100
