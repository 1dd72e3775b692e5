"""An archive as files by name: one file, a folder, or a ZIP, of which nothing is ever unpacked to disk."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from lukasa.archives.base import Advance
from lukasa.errors import InputError

UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
"""What zipfile and the disk raise in the middle of a file; RuntimeError is a file under a password."""

RATIO: Final = 200  # JSON shrinks to a tenth; what shrinks to a 200th was made to fill the memory
_ZIPS: Final = re.compile(r"(conversations|memories|projects)-\d+\.zip", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: where it is, its name there, and what reading it whole takes from the disk."""

    path: Path
    name: str
    size: int
    inside: bool = False  # `name` is a name in the ZIP at `path`

    @contextmanager
    def open(self, advance: Advance) -> Generator[BinaryIO]:
        """The file's bytes; *advance* is told how many were taken from the disk, packed as they are there."""
        with _Counted(self.path) as file:
            if not self.inside:
                file.advance = advance
                yield cast("BinaryIO", cast("object", file))
                return
            with zipfile.ZipFile(cast("BinaryIO", cast("object", file))) as archive:
                _must_be_sound(archive.getinfo(self.name), self.path)
                with archive.open(self.name) as stream:
                    file.advance = advance
                    yield cast("BinaryIO", cast("object", stream))


def unheard(_: int) -> None:
    """Tell nobody how far a reader is."""


class _Counted(io.FileIO):
    """A file that tells how many bytes are read from it."""

    advance: Advance = staticmethod(unheard)

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(-1 if size is None else size)
        self.advance(len(found))
        return found


def _must_be_sound(info: zipfile.ZipInfo, path: Path) -> None:
    ratio = info.file_size // max(info.compress_size, 1)
    if info.file_size > 10_000_000 and ratio >= RATIO:
        raise InputError(
            f"{path}: {info.filename!r:.80} would unpack to {ratio:,} times its size, as no export does; "
            "unzip it yourself, look at it, and give the folder"
        )


def is_zip(path: Path) -> bool:
    """Whether the file begins as a ZIP does."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def members(path: Path) -> list[Member]:
    """The files of an archive, by name. Raises `InputError` for a ZIP that cannot be opened."""
    if not path.is_dir():
        return list(_zipped(path)) if is_zip(path) else [_plain(path, path.name)]
    found: list[Member] = []
    for file in sorted([*path.glob("*"), *path.glob("*/*")]):
        if not file.is_file():
            continue
        if _ZIPS.fullmatch(file.name):  # Anthropic sends them one a kind
            found.extend(_zipped(file))
        else:
            found.append(_plain(file, file.relative_to(path).as_posix()))
    return found


def _plain(path: Path, name: str) -> Member:
    return Member(path, name, path.stat().st_size)


def _zipped(path: Path) -> Iterator[Member]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except UNREADABLE as error:
        raise InputError(f"{path}: not a ZIP that can be read: {error}; download it again") from error
    for info in sorted(infos, key=lambda one: one.filename):
        if not info.is_dir() and not info.filename.startswith("__MACOSX/"):
            yield Member(path, info.filename, info.compress_size, inside=True)


def named(found: list[Member], pattern: str) -> list[Member]:
    """Those whose path ends as *pattern* says; a pattern of names, which folders may stand before."""
    return [one for one in found if re.search(rf"(?:^|[/\\])(?:{pattern})$", one.name, re.IGNORECASE)]
