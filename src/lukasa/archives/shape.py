"""What a JSON file is, by the keys of its first object: never by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lukasa.archives.base import Kind
from lukasa.archives.files import Member, unheard
from lukasa.archives.stream import BadJson, Readable, Scanner, TooLong

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
_TRIED: Final = 20  # entries of a list that need not tell
_LISTS: Final = ("conversations", "results")


@dataclass(frozen=True, slots=True)
class Shape:
    """The kind of a JSON file, and where its entries are, as `stream.elements` takes it."""

    kind: Kind
    place: str
    key: str  # the one that told


def shape(stream: Readable) -> Shape | None:
    """What *stream* holds, by its first telling key; None where its beginning does not tell."""
    scan = Scanner(stream)
    try:
        if scan.peek() == "[":
            return _of_list(scan, "item")
        if scan.peek() == "{":
            return _of_object(scan, "")
    except (BadJson, TooLong):
        pass
    return None


def _of_list(scan: Scanner, place: str) -> Shape | None:
    for number, _ in enumerate(scan.items()):
        if scan.peek() != "{":
            scan.value()
        elif (found := _of_object(scan, place)) is not None:
            return found
        if number == _TRIED:
            break
    return None


def _of_object(scan: Scanner, place: str) -> Shape | None:
    for key in scan.fields():
        if key in _TELLING:
            return Shape(_TELLING[key], place, key)
        if not place and key in _LISTS and scan.peek() == "[":
            found = _of_list(scan, key)
            if found is not None:
                return found
        else:
            scan.value()
    return None


def shape_of(member: Member) -> Shape | None:
    """The same for a file of an archive."""
    with member.open(unheard) as stream:
        return shape(stream)
