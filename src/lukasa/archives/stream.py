"""JSON read piece by piece: a file of any length takes the memory of its longest entry.

The decoder is json's own. What is nested too deeply ends it with an error, where parsers that keep the path
of what they read take hours. A value of which only a part is in the buffer is decoded again once twice as
much is there, so all attempts together cost about two.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Final, Protocol, cast

from lukasa.archives.base import MOST_BYTES
from lukasa.errors import InputError

_CHUNK: Final = 1 << 18
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder(strict=False)
_AFTER: Final = frozenset(" \t\r\n,]}")
_NEAR: Final = 10  # characters: a break in the middle of a value shows at most that far before the end


class BadJson(InputError):
    """What is read is no JSON, or it breaks off."""


class TooLong(InputError):
    """An entry longer than any that is read."""


class Readable(Protocol):
    """What JSON is read from."""

    def read(self, size: int = -1, /) -> bytes:
        """At most *size* bytes; none at the end."""
        ...


class Scanner:
    """The values of a stream, one after the other. Every method may raise `BadJson` and `TooLong`."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer, self._at, self._ended = "", 0, False

    def peek(self) -> str:
        """The next character that is no white space; "" at the end."""
        while True:
            self._at = cast("re.Match[str]", _SPACE.match(self._buffer, self._at)).end()
            if self._at < len(self._buffer) or not self._more():
                return self._buffer[self._at : self._at + 1]

    def value(self) -> object:
        """The value that begins here, whole."""
        self.peek()
        while True:
            try:
                found, end = cast("tuple[object, int]", _DECODER.raw_decode(self._buffer, self._at))
            except json.JSONDecodeError as error:
                partial = error.msg.startswith("Unterminated") or error.pos > len(self._buffer) - _NEAR
                if not partial or not self._more():
                    raise self._bad(error.msg) from error
            except (ValueError, RecursionError) as error:
                raise self._bad(str(error)) from error
            else:
                # A number may go on in what is not read yet: "1" in "1.5", or in "1e3".
                whole = not isinstance(found, int | float) or self._buffer[end : end + 1] in _AFTER
                if whole or not self._more():
                    self._at = end
                    return found

    def items(self) -> Iterator[None]:
        """Steps through a list: at each step one value is to be taken."""
        self._take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield
            if self._take(",]") == "]":
                return

    def fields(self) -> Iterator[str]:
        """Steps through an object by its keys: at each step one value is to be taken."""
        self._take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            key = self.value()
            self._take(":")
            yield key if isinstance(key, str) else ""
            if self._take(",}") == "}":
                return

    def _take(self, wanted: str) -> str:
        found = self.peek()
        if not found or found not in wanted:
            raise self._bad(f"expecting {' or '.join(wanted)}")
        self._at += 1
        return found

    def _more(self) -> bool:
        """Whether there is more to look at: as much again as is there, of the value that is being read."""
        rest = len(self._buffer) - self._at
        if rest > MOST_BYTES:
            raise TooLong(f"longer than {MOST_BYTES:,} characters, as no entry is")
        read = b"" if self._ended else self._stream.read(max(_CHUNK, rest))
        self._ended = not read
        try:
            text = self._utf8.decode(read, final=self._ended)
        except UnicodeDecodeError as error:
            raise self._bad("not UTF-8") from error
        self._buffer, self._at = self._buffer[self._at :] + text, 0
        return not self._ended

    def _bad(self, reason: str) -> BadJson:
        if self._ended:
            return BadJson("the file breaks off, or is no JSON")
        return BadJson(f"no JSON ({reason})")


def elements(stream: Readable, place: str) -> Iterator[object]:
    """The values of a list, one after the other: of the document ("item"), or of its key *place*.

    "" stands for the documents themselves, of which there may be several. Raises `BadJson`, `TooLong`.
    """
    scan = Scanner(stream)
    if place == "item":
        yield from (scan.value() for _ in scan.items())
    elif not place:
        while scan.peek():
            yield scan.value()
    else:
        for key in scan.fields():
            if key == place:
                yield from (scan.value() for _ in scan.items())
            else:
                scan.value()


def pairs(stream: Readable, place: str) -> Iterator[tuple[str, object]]:
    """The keys and values of the object at key *place*, one after the other. Raises as `elements` does."""
    scan = Scanner(stream)
    for key in scan.fields():
        if key == place:
            yield from ((inner, scan.value()) for inner in scan.fields())
        else:
            scan.value()
