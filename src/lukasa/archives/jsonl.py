"""JSON lines: a line is a message, or a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import BinaryIO, Final, cast

from lukasa.archives.base import MOST_BYTES, Advance, Conversation, Entries, Ids, Problem, Time
from lukasa.errors import MessageError
from lukasa.types import SCOPE_KINDS

_BESIDE: Final = ("metadata", "expiration_date", *SCOPE_KINDS)
_MESSAGE: Final = ("role", "content", "name", "timestamp", "created_at", "said_at", *_BESIDE)
_CONVERSATION: Final = ("messages", "timestamp", *_BESIDE)


def read(stream: BinaryIO, advance: Advance) -> Entries:
    """The messages and conversations of a stream of lines; blank lines say nothing."""
    for number, (line, size) in enumerate(_lines(stream), 1):
        if line is None:
            yield Problem(f"line {number}", f"longer than {MOST_BYTES:,} bytes; give it as several lines")
        else:
            try:
                found = conversation(number, line)
            except MessageError as error:
                yield Problem(f"line {number}", str(error))
            else:
                if found is not None:
                    yield found
        advance(size)


def _lines(stream: BinaryIO) -> Iterator[tuple[bytes | None, int]]:
    """Each line with its length; None for one that is too long to be held."""
    while line := stream.readline(MOST_BYTES + 1):
        if len(line) <= MOST_BYTES:
            yield line, len(line)
            continue
        size = len(line)
        while not line.endswith(b"\n") and (line := stream.readline(MOST_BYTES)):
            size += len(line)
        yield None, size


def conversation(number: int, line: bytes) -> Conversation | None:
    """What *line* holds; None for a blank line.

    Raises `MessageError` for what is neither a message nor a conversation.
    """
    content = line.strip().removeprefix(b"\xef\xbb\xbf")
    if not content:
        return None
    given = _mapping(content)
    messages, timestamp = _messages(given)
    return Conversation(
        key=str(number),
        messages=tuple(messages),
        where=f"line {number}",
        ids=cast("Ids", {kind: given[kind] for kind in SCOPE_KINDS if given.get(kind) is not None}),
        metadata=cast("Mapping[str, object] | None", given.get("metadata")),
        timestamp=timestamp,
        expiration_date=cast("str | None", given.get("expiration_date")),
        content=content,
    )


def _mapping(content: bytes) -> Mapping[str, object]:
    try:
        found: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise MessageError('a line is a message {"role": ..., "content": ...} or {"messages": [...]}')
    return cast("Mapping[str, object]", found)


def _messages(given: Mapping[str, object]) -> tuple[Sequence[Mapping[str, object]], Time | None]:
    """The messages of a line, and when they were said where the messages themselves do not tell."""
    if "messages" not in given:
        for key in given:
            near = get_close_matches(key, _MESSAGE, n=1, cutoff=0.75) if key not in _MESSAGE else []
            if near:  # a misspelt id would store it for somebody else
                raise MessageError(f"a message has no {key!r}; did you mean {near[0]!r}?")
        return [{key: value for key, value in given.items() if key not in _BESIDE}], None
    unknown = [key for key in given if key not in _CONVERSATION]
    if unknown:
        raise MessageError(f"a conversation has no {unknown[0]!r}; it takes: {', '.join(_CONVERSATION)}")
    messages = given["messages"]
    if not isinstance(messages, list) or not messages:
        raise MessageError("'messages' is a list of one message or more")
    return cast("list[Mapping[str, object]]", messages), cast("Time | None", given.get("timestamp"))
