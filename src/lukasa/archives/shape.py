"""What a JSON file is, by the keys of its first object: never by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lukasa.archives.base import Kind
from lukasa.archives.files import Member, unheard
from lukasa.archives.stream import Readable, keys

_TELLING: Final[Mapping[str, Kind]] = {
    "mapping": "chatgpt",
    "chat_messages": "claude",
    "conversations_memory": "claude",
    "project_memories": "claude",
    "memory_files": "claude",
    "prompt_template": "claude",
    "memory": "mem0",
    "docstore": "mem0",
    "messages": "jsonl",
    "role": "jsonl",
    "content": "jsonl",
}
_PLACES: Final = ("", "item", "conversations.item", "results.item")


@dataclass(frozen=True, slots=True)
class Shape:
    """The kind of a JSON file, and where its entries stand: the prefix that `stream.elements` takes."""

    kind: Kind
    prefix: str
    key: str  # the one that told


def shape(stream: Readable) -> Shape | None:
    """What *stream* holds, by its first telling key; None where its beginning does not tell."""
    for prefix, key in keys(stream):
        if prefix in _PLACES and key in _TELLING:
            return Shape(_TELLING[key], prefix, key)
    return None


def shape_of(member: Member) -> Shape | None:
    """The same for a file of an archive."""
    with member.open(unheard) as stream:
        return shape(stream)
