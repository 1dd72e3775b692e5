"""JSON read piece by piece: a file of any length takes the memory of its longest entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, Protocol, cast

import ijson  # pyright: ignore[reportMissingTypeStubs]  # it has none

from lukasa.archives.base import MOST_BYTES
from lukasa.errors import InputError

BAD_JSON: Final = cast("type[Exception]", ijson.JSONError)
_CHUNK: Final = 1 << 16
_LOOK: Final = 4_000_000  # bytes in which an archive must say what it is


class TooLong(InputError):
    """An entry longer than any that is read."""


class Readable(Protocol):
    """What JSON is read from."""

    def read(self, size: int = -1, /) -> bytes:
        """At most *size* bytes; none at the end."""
        ...


class Meter:
    """A stream without a byte order mark, which ends in `TooLong` where one entry goes on for too long."""

    def __init__(self, stream: Readable, most: int = MOST_BYTES) -> None:
        self.stream = stream
        self.most = most
        self.taken = 0
        self._begun = False

    def read(self, size: int = -1) -> bytes:
        """The next bytes. Raises `TooLong`."""
        if self.taken > self.most:
            raise TooLong(f"longer than {self.most:,} bytes, as no conversation is")
        found = self.stream.read(size)
        if not self._begun and found:
            self._begun = True
            found = found.removeprefix(b"\xef\xbb\xbf") or self.stream.read(size)
        self.taken += len(found)
        return found


def elements(stream: Readable, prefix: str) -> Iterator[object]:
    """The values at *prefix* ("item": of a list; "": the documents themselves), one after the other.

    Raises `BAD_JSON` where the JSON breaks off or is none, `TooLong`.
    """
    meter = Meter(stream)
    found = cast(
        "Iterable[object]",
        ijson.items(meter, prefix, buf_size=_CHUNK, use_float=True, multiple_values=not prefix),  # pyright: ignore[reportUnknownMemberType]
    )
    for value in found:
        meter.taken = 0
        yield value


def pairs(stream: Readable, prefix: str) -> Iterator[tuple[str, object]]:
    """The keys and values of the object at *prefix*, one after the other. Raises as `elements` does."""
    meter = Meter(stream)
    found = cast(
        "Iterable[tuple[str, object]]",
        ijson.kvitems(meter, prefix, buf_size=_CHUNK, use_float=True),  # pyright: ignore[reportUnknownMemberType]
    )
    for key, value in found:
        meter.taken = 0
        yield key, value


def keys(stream: Readable) -> Iterator[tuple[str, str]]:
    """The keys of objects as they come, each with its object's prefix; ends where the JSON breaks off."""
    events = cast(
        "Iterable[tuple[str, str, str]]",
        ijson.parse(Meter(stream, _LOOK), buf_size=_CHUNK, multiple_values=True),  # pyright: ignore[reportUnknownMemberType]
    )
    try:
        for prefix, event, value in events:
            if event == "map_key":
                yield prefix, value
    except (BAD_JSON, TooLong):
        return


def whole(stream: BinaryIO) -> object:
    """The one document of a short file. Raises `BAD_JSON`, `TooLong`."""
    return next(elements(stream, ""), None)
