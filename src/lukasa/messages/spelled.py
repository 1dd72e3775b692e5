"""A text as it is read: what is invisible is left out, look-alikes of ASCII are ASCII.

A secret with a soft hyphen within, or digits of full width, is a secret all the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# What may be spelled otherwise; text without any of it is read as it is written.
_ODD = re.compile(
    "[\u00a0\u00ad\u034f\u061c\u1680\u180e\u2000-\u2015\u2028-\u202f\u205f-\u206f\u2212\u3000"
    "\ufe00-\ufe0f\ufeff\uff0d\uff0e\uff10-\uff1a\uff1d\uff20-\uff3a\uff3f\uff41-\uff5a"
    "\U0001d400-\U0001d7ff\U000e0000-\U000e0fff]|(?![0-9])\\d"
)
_WIDE_SIGNS = "\uff0d\uff0e\uff1a\uff1d\uff20\uff3f"  # not those that end a word or a sentence
_INVISIBLE = "\u034f\u180e"


class _Plain(dict[int, str | int | None]):
    """For `str.translate`: how a character is read; None for one that is not seen."""

    def __missing__(self, code: int) -> str | int | None:
        self[code] = found = _plain(chr(code))
        return found


def _plain(char: str) -> str | None:
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    category = unicodedata.category(char)
    if category == "Cf" or char in _INVISIBLE or "\ufe00" <= char <= "\ufe0f":
        return None
    if category in ("Zs", "Pd"):
        return " " if category == "Zs" else "-"
    if "\uff21" <= char <= "\uff5a" or char in _WIDE_SIGNS or "\U0001d400" <= char <= "\U0001d7ff":
        plain = unicodedata.normalize("NFKC", char)
        return plain if plain.isascii() and (plain.isalnum() or char in _WIDE_SIGNS) else char
    return char


_PLAIN = _Plain()


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to stand in the place of a span of what is read."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Spelled:
    """A text and how it is read; `places` tells where in the text each read character stands, and its end.

    Without `places` the two are as long as each other.
    """

    text: str
    read: str
    places: Sequence[int] | None = None

    @classmethod
    def of(cls, text: str) -> Spelled:
        """How *text* is read."""
        if text.isascii() or _ODD.search(text) is None:
            return cls(text, text)
        read = text.translate(_PLAIN)
        if len(read) == len(text):
            return cls(text, read)
        seen = [place for place, char in enumerate(text) if _PLAIN[ord(char)] is not None]
        return cls(text, read, (*seen, len(text)))

    def edited(self, edits: Sequence[Edit]) -> Spelled:
        """The same with *edits*, which are in order and apart; what is invisible within one goes with it."""
        if not edits:
            return self
        borders = [0, *(border for edit in edits for border in (edit.start, edit.end)), len(self.read)]
        kept = list(pairwise(borders))[::2]
        masks = [edit.text for edit in edits] + [""]
        read = "".join(self.read[a:b] + mask for (a, b), mask in zip(kept, masks, strict=True))
        if self.places is None:
            text = "".join(self.text[a:b] + mask for (a, b), mask in zip(kept, masks, strict=True))
            return Spelled(text, read)
        pieces, places = [self.text[: self.places[0]]], list[int]()
        length = len(pieces[0])
        for (a, b), mask in zip(kept, masks, strict=True):
            shift = length - self.places[a]
            places += [place + shift for place in self.places[a:b]]
            length += self.places[b] - self.places[a]
            places += range(length, length + len(mask))
            length += len(mask)
            pieces += self.text[self.places[a] : self.places[b]], mask
        return Spelled("".join(pieces), read, (*places, length))
