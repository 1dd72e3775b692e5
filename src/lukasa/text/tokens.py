"""The lexical analyzer: one for every ledger, whatever database keeps the postings.

**Words** are runs of letters, digits and marks after NFKC and case folding. Every word gives the stem of its
script's default language (English for Latin, Russian for Cyrillic, ...), and the stem in the text's own
language where that is known and differs. Both sides of a search therefore share the default stem, whatever
language detection says of either. Latin accents are folded, so that `Jose` finds `José`. Stop words are
indexed; only queries leave them out.

**Apostrophes**: English clitics go (`John's`, `I'll`), French and Italian elisions go (`l'homme`), others are
joined (`don't` is `dont`, `O'Brien` is `obrien`).

**Compounds** (`ABC-123`, `foo_bar`, addresses, URLs, `3.11.2`) give their parts and the whole; hyphens and
underscores are dropped from the whole, so that `e-mail` and `email` meet. Wholes of addresses and URLs also
come by segment (`example.com`).

**Scripts without spaces** (Han, kana, Hangul, Thai, Lao, Khmer, Burmese) give overlapping bigrams within
a run; a run of one character gives that character. Han characters are indexed one by one as well: many are
words, and `猫` must be found in `一只猫`. That costs one more posting a character. Kana have no single
characters; a Hangul run adds its first, because particles follow the noun (`집` in `집에`). Units of Thai
and its neighbours are letters with their marks.

Words of more than 64 characters become a prefix and a digest: equal ones still meet.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import pairwise

from lukasa.text.language import detect
from lukasa.text.stems import guessed, script_of, stem_words, without_accents
from lukasa.text.stopwords import GRAMMAR_CHARACTERS, GRAMMAR_PAIRS, QUESTION_RUNS, STOPWORDS

ANALYZER = "1"
"""The version of the analyzer's output: a ledger that was indexed with another one is indexed anew."""

_LONGEST = 64

# Letters of scripts that are written without spaces, without their digits and punctuation.
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u1089\u1780-\u17d3\u17d7"
    "\u1100-\u11ff\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\uac00-\ud7a3"
    + _HAN
)
_JOINTS = "-._@:/+&=?#%~'"
_ASCII_CHUNK = re.compile(rf"[a-z0-9]++(?:[{_JOINTS}][a-z0-9]++){{0,64}}+")
_SEGMENTS = re.compile("[@:/?#=&]")
_PARTS = re.compile("[-._+%~]")
_SOFT_JOINTS = re.compile("[-_]")
_CLITIC = re.compile(r"'(?:s|m|re|ve|ll|d)(?!\w)")
_ELISION = re.compile(
    r"(?<!\w)(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|un|all|dall|dell|nell|sull|quest|quell)'(?=\w)"
)
_INVISIBLE = re.compile("[\u00ad\u200d\u2060\ufeff]")
_IS_HAN = re.compile(f"[{_HAN}]")
_IS_SPACELESS = re.compile(f"[{_SPACELESS}]")
_QUESTION = re.compile("|".join(QUESTION_RUNS))
# Capitals within a sentence: 'Will' and 'IT' there are names, not grammar.
_NAME = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][A-Za-z]+")


@dataclass(slots=True)
class _Split:
    """A text taken apart: words to be stemmed, terms to be kept as they are, runs for bigrams."""

    words: list[str] = field(default_factory=list[str])
    exact: list[str] = field(default_factory=list[str])
    runs: list[str] = field(default_factory=list[str])


def terms(text: str) -> dict[str, int]:
    """The index terms of *text* with their counts. Any text will do; time is linear in its length."""
    split = _split(text)
    words = _counted(split.words)
    counts = _counted(split.exact)
    for run, times in _counted(split.runs).items():
        for gram in _grams(run):
            counts[gram] = counts.get(gram, 0) + times
    for stems, times in zip(stem_words(list(words), detect(text)), words.values(), strict=True):
        for stem in stems:
            counts[stem] = counts.get(stem, 0) + times
    return counts


def query_words(text: str) -> tuple[tuple[str, ...], ...]:
    """The content words of a query, in order and once each; of a word, the index terms that stand for it.

    Stop words and question words are left out unless nothing else is left ("who am I"). A stop word with a
    capital inside a sentence is taken for a name. Every word here has a form among `terms` of the same text.
    """
    language = detect(text)
    split = _split(text)
    kept = [word for word in split.words if not _is_stop(word, language)]
    if len(kept) < len(split.words) and not text.isupper():
        names = {name.lower() for name in _NAME.findall(text)}
        kept = [word for word in split.words if word in names or not _is_stop(word, language)]
    grams = [gram for run in split.runs for gram in _content_grams(run)]
    if not (kept or grams or split.exact):
        kept, grams = split.words, [gram for run in split.runs for gram in _grams(run)]
    found = [
        *guessed(stem_words(kept, language), kept, language),
        *((term,) for term in split.exact),
        *((gram,) for gram in grams),
    ]
    return tuple(dict.fromkeys(found))


# --- taking apart


def _counted(items: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts


def _split(text: str) -> _Split:
    split = _Split()
    plain = text.isascii()
    for chunk in (_ASCII_CHUNK if plain else _chunk_pattern()).findall(_folded(text)):
        if plain and chunk.isalnum() and len(chunk) <= _LONGEST:
            split.words.append(chunk)
        elif not plain and _IS_SPACELESS.match(chunk):
            split.runs.append(chunk)
        else:
            _take_apart(chunk, split)
    return split


def _take_apart(chunk: str, split: _Split) -> None:
    if "'" in chunk:
        chunk = _ELISION.sub("", _CLITIC.sub("", chunk)).replace("'", "")
    segments = _SEGMENTS.split(chunk)
    if len(segments) > 1:
        split.exact.append(_bounded(chunk))
    for segment in segments:
        parts = [part for part in _PARTS.split(segment) if part]
        if len(parts) > 1:
            whole = _SOFT_JOINTS.sub("", segment)
            # '1-2' is not '12', but 'abc-12' and 'abc12' are one name.
            if _PARTS.search(whole) or whole.isdigit():
                split.exact.append(_bounded(segment))
            else:
                _put(whole, split)
        for part in parts:
            _put(part, split)


def _put(word: str, split: _Split) -> None:
    if len(word) <= _LONGEST:
        split.words.append(word)
    else:
        split.exact.append(_bounded(word))


def _bounded(term: str) -> str:
    if len(term) <= _LONGEST:
        return term
    return f"{term[:40]}~{blake2b(term.encode(), digest_size=8).hexdigest()}"


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Normalisation sorts marks in quadratic time; no word has more than 30 in a row (UAX 15, stream-safe).
    text = _excess_marks().sub(r"\1", text)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _INVISIBLE.sub("", text).replace("\u2019", "'")


@cache
def _marks() -> str:
    """A character class of all combining marks: `\\w` has none, and Indic vowels are marks."""
    top = min(sys.maxunicode, 0x1E94B)
    return "".join(re.escape(c) for c in map(chr, range(0x300, top)) if unicodedata.category(c)[0] == "M")


@cache
def _excess_marks() -> re.Pattern[str]:
    return re.compile(f"([{_marks()}]{{30}})[{_marks()}]+")


@cache
def _chunk_pattern() -> re.Pattern[str]:
    letter, mark = rf"[^\W_{_SPACELESS}]", f"[{_marks()}]"
    word = f"{letter}++(?:{mark}++{letter}*+)*+"
    return re.compile(f"[{_SPACELESS}]++|{word}(?:[{_JOINTS}]{word}){{0,64}}+")


# --- bigrams


def _grams(run: str) -> list[str]:
    units: Sequence[str] = run if run[0] >= "\u2000" else _clusters().findall(run)
    if len(units) == 1:
        return [units[0]]
    singles = _IS_HAN.findall(run)
    if "\uac00" <= run[0] <= "\ud7a3":
        singles.append(run[0])
    return [*singles, *(a + b for a, b in pairwise(units))]


@cache
def _clusters() -> re.Pattern[str]:
    return re.compile(f".[{_marks()}]*+", re.DOTALL)


def _content_grams(run: str) -> list[str]:
    known = set(_grams(run))
    return [
        gram
        for part in _QUESTION.split(run)
        if part
        for gram in _grams(part)
        if gram in known and gram not in GRAMMAR_PAIRS and not GRAMMAR_CHARACTERS.issuperset(gram)
    ]


# --- stop words


def _is_stop(word: str, language: str | None) -> bool:
    words = (
        _stop_words(language)
        if language in STOPWORDS
        else _stop_words(_DEFAULT_STOPS.get(script_of(word), "en"))
    )
    return word in words


_DEFAULT_STOPS = {"ru": "ru"}


@cache
def _stop_words(language: str | None) -> frozenset[str]:
    words = STOPWORDS.get(language or "en", frozenset())
    return words | {without_accents(word) for word in words}
