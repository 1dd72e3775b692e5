"""Where sentences begin and end, and pieces of bounded length made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Protocol, TypedDict, cast

from lukasa.runtime import unforked

Span = tuple[int, int]

_LONG = 1000  # characters; a "sentence" above it is a list, a table or a log
_LINE = re.compile(r"[^\n]*(?:\n\s*|\Z)")
# The splitter takes quadratic time on unbalanced quotes: it sees so much of a text at once.
_AT_ONCE = 4000
# It encodes to UTF-8, and takes every white space for one byte: stand-ins, as long as what they stand for.
_UNSAFE = re.compile(r"[\ud800-\udfff]|[^\S\x00-\x7f]")


class _Boundary(TypedDict):
    start_index: int
    end_index: int


class _Boundaries(Protocol):
    def __call__(self, language: str, text: str) -> list[_Boundary]: ...


def sentences(text: str, language: str | None = None) -> list[Span]:
    """Character spans of the sentences. They tile the text: white space belongs to what precedes it.

    *language* is an ISO code (abbreviations differ); English rules where it is unknown. A sentence of
    more than 1,000 characters is split at its line ends. Blank text has no sentences.
    """
    if not text or text.isspace():
        return []
    safe = text if text.isascii() else _UNSAFE.sub(_stand_in, text)
    found = _boundaries(safe, language or "en")
    return _tiled(text, (line for span in found for line in _lines(text, span)))


def pieces(text: str, limit_chars: int) -> list[Span]:
    """Spans of at most *limit_chars*, without outer white space, that together hold all of the text.

    Cut between sentences, in a sentence that is too long between words, in a word that is too long anywhere.
    """
    if limit_chars < 1:
        raise ValueError(f"limit_chars must be at least 1, not {limit_chars}")
    whole = _trimmed(text, (0, len(text)))
    if whole[1] - whole[0] <= limit_chars:
        return [whole] if whole[0] < whole[1] else []
    packed: list[Span] = []
    for sentence in sentences(text):
        for start, end in _cut(text, _trimmed(text, sentence), limit_chars):
            if packed and end - packed[-1][0] <= limit_chars:
                packed[-1] = (packed[-1][0], end)
            else:
                packed.append((start, end))
    return packed


def _stand_in(match: re.Match[str]) -> str:
    return " " if match[0].isspace() else "\ufffd"


def _boundaries(text: str, language: str) -> Iterable[Span]:
    """What the splitter finds; the sentence in which a part of the text ends is looked at again."""
    start = 0
    while start < len(text):
        part = text[start : start + _AT_ONCE]
        spans = [(start + b["start_index"], start + b["end_index"]) for b in _splitter()(language, part)]
        ends = start + len(part)
        if ends < len(text):
            whole = [span for span in spans if span[1] < ends]
            if whole and whole[-1][1] - start >= _LONG:  # so that each look brings it on
                spans, ends = whole, whole[-1][1]
        yield from spans
        start = ends


@cache
def _splitter() -> _Boundaries:
    # A native module: loaded by whoever splits, not by whoever imports Lukasa.
    with unforked():
        return cast(_Boundaries, import_module("sentencex").get_sentence_boundaries)


def _lines(text: str, span: Span) -> list[Span]:
    start, end = span
    if end - start <= _LONG:
        return [span]
    return [m.span() for m in _LINE.finditer(text, start, end) if m.end() > m.start()]


def _tiled(text: str, spans: Iterable[Span]) -> list[Span]:
    """The spans with blank ones joined to their neighbours."""
    tiles: list[Span] = []
    start = 0
    for _, end in spans:
        if end <= start:
            continue
        if text[start:end].isspace():
            if tiles:
                tiles[-1] = (tiles[-1][0], end)
                start = end
            continue
        tiles.append((start, end))
        start = end
    if tiles and tiles[-1][1] < len(text):
        tiles[-1] = (tiles[-1][0], len(text))
    return tiles


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _cut(text: str, span: Span, limit: int) -> Iterable[Span]:
    start, end = span
    while end - start > limit:
        stop = start + limit
        border = next((i for i in range(stop, start, -1) if text[i].isspace()), stop)
        yield _trimmed(text, (start, border))
        start, _ = _trimmed(text, (border, end))
    if start < end:
        yield start, end
