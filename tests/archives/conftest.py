"""Reading archives whole, by kind of entry."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lukasa.archives.base import Conversation, Kept, Kind, Left, Problem
from lukasa.archives.detect import archive

DATA = Path(__file__).parent / "data"


@dataclass
class Read:
    """All that an archive held."""

    kind: Kind
    size: int | None
    taken: int = 0
    conversations: list[Conversation] = field(default_factory=list[Conversation])
    kept: list[Kept] = field(default_factory=list[Kept])
    problems: list[Problem] = field(default_factory=list[Problem])
    left: dict[str, int] = field(default_factory=dict[str, int])

    def advance(self, size: int) -> None:
        assert size >= 0
        self.taken += size

    def texts(self) -> list[tuple[object, object]]:
        return [(one["role"], one["content"]) for said in self.conversations for one in said.messages]


def read(path: Path, kind: Kind | None = None) -> Read:
    """What the archive at *path* holds."""
    found = archive(path, kind)
    done = Read(found.kind, found.size)
    for entry in found.read(done.advance):
        match entry:
            case Conversation():
                done.conversations.append(entry)
            case Kept():
                done.kept.append(entry)
            case Problem():
                done.problems.append(entry)
            case Left():
                done.left[entry.what] = done.left.get(entry.what, 0) + entry.count
    return done


def write(path: Path, value: object) -> Path:
    """A JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def zipped(path: Path, members: Mapping[str, object]) -> Path:
    """A ZIP of JSON files; bytes stay as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive_:
        for name, value in members.items():
            archive_.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path
