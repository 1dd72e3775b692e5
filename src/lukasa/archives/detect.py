"""Which archive a path is, by what is in it, and what reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, assert_never

from lukasa.archives import chatgpt, claude, jsonl, mem0
from lukasa.archives.base import Advance, Entries, Kind
from lukasa.archives.databases import MAGIC
from lukasa.archives.files import UNREADABLE, Member, is_zip, members, named
from lukasa.archives.shape import Shape, shape_of
from lukasa.archives.values import mapping_of
from lukasa.errors import InputError

LOOKED_FOR: Final = (
    "JSON lines; ChatGPT's or Claude's export (conversations.json, conversations-000.json, ..., the ZIP, or "
    "its folder); mem0's (a dump of get_all, or a folder with a Qdrant, Chroma or FAISS store and history.db)"
)
_HEAD: Final = 1 << 20
_OURS: Final = frozenset({"messages", "role", "content"})
_TELLING: Final = f"{chatgpt.CONVERSATIONS}|{claude.MEMORIES}|{claude.PROJECTS}"


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that can be read; `size` is what `read` will take from the disk, where that is known."""

    kind: Kind
    size: int | None
    read: Callable[[Advance], Entries]


def archive(path: Path, kind: Kind | None = None) -> Archive:
    """The archive at *path*; *kind* overrides what its content says.

    Raises `InputError`, which names what was looked for, and `OSError`.
    """
    if not path.is_dir() and not path.is_file():
        path.stat()
        return _through_pipe(path, kind)
    kind = kind or kind_of(path)
    match kind:
        case "jsonl":
            if path.is_dir() or is_zip(path):
                raise InputError(f"{path}: JSON lines are one file; give it")
            return Archive(kind, path.stat().st_size or None, partial(_lines, path))
        case "chatgpt":
            found = _files(path, chatgpt.CONVERSATIONS)
            return Archive(kind, sum(one.size for one in found), partial(chatgpt.read, found))
        case "claude":
            found = _files(path, f"{chatgpt.CONVERSATIONS}|{claude.MEMORIES}|{claude.PROJECTS}")
            return Archive(kind, sum(one.size for one in found), partial(claude.read, found))
        case "mem0":
            there = mem0.found(path)
            if not there:
                raise InputError(f"{path}: nothing of mem0's is in it; looked for: {LOOKED_FOR}")
            return Archive(kind, sum(one.size for one in there), partial(mem0.read, there))
        case _:
            assert_never(kind)


def lines(stream: BinaryIO) -> Archive:
    """JSON lines that come through a pipe."""
    return Archive("jsonl", None, partial(jsonl.read, stream))


def _through_pipe(path: Path, kind: Kind | None) -> Archive:
    """What comes through a named pipe: it can be read once, so nothing can be looked up in it before."""
    if kind not in (None, "jsonl"):
        raise InputError(f"{path}: {kind} is read from a file or a folder, not through a pipe")
    return Archive("jsonl", None, partial(_lines, path))


def _lines(path: Path, advance: Advance) -> Entries:
    with path.open("rb") as stream:
        yield from jsonl.read(stream, advance)


def _files(path: Path, pattern: str) -> list[Member]:
    found = members(path)
    if len(found) == 1 and not found[0].inside:
        return found  # a file may have any name
    wanted = named(found, pattern)
    if not wanted:
        raise InputError(f"{path}: no conversations.json in it; looked for: {LOOKED_FOR}")
    return wanted


def kind_of(path: Path) -> Kind:
    """What the archive at *path* is. Raises `InputError` where nothing tells."""
    if path.is_dir() or is_zip(path):
        found = [_shape(one) for one in named(members(path), _TELLING)]
        kinds: set[Kind] = {one.kind for one in found if one is not None}
        if len(kinds) == 1:
            return kinds.pop()
        if len(kinds) > 1:
            raise InputError(f"{path}: several archives ({', '.join(sorted(kinds))}); give one of them")
        if path.is_dir() and mem0.found(path):
            return "mem0"
    else:
        kind = _kind_of_file(path)
        if kind is not None:
            return kind
    raise InputError(f"{path}: cannot tell what this is; looked for: {LOOKED_FOR}; --format says it")


def _kind_of_file(path: Path) -> Kind | None:
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith((MAGIC, b"\x80")):
        return "mem0" if mem0.found(path) else None
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not begin or _has_lines(begin):
        return "jsonl"
    found = _shape(Member(path, path.name, path.stat().st_size))
    if found is None:
        return None
    if found.kind == "jsonl" and found.place:
        raise InputError(f"{path}: a JSON list of messages; write one of them a line (JSON lines)")
    return found.kind


def _has_lines(head: bytes) -> bool:
    """Whether one of the first lines is a message or a conversation of our own."""
    for line in re.split(rb"\r?\n", head, maxsplit=100)[:100]:
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            found: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        keys = mapping_of(found).keys()
        if "memory" not in keys and not _OURS.isdisjoint(keys):
            return True
    return False


def _shape(member: Member) -> Shape | None:
    try:
        return shape_of(member)
    except UNREADABLE:
        return None
