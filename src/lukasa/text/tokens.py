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
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib import import_module
from itertools import pairwise
from typing import Protocol, cast

from lukasa.text.language import detect
from lukasa.text.stopwords import GRAMMAR_CHARACTERS, GRAMMAR_PAIRS, QUESTION_RUNS, STOPWORDS

ANALYZER = "1"
"""The version of the analyzer's output: a ledger that was indexed with another one is indexed anew."""

_LONGEST = 64
_STEM_CACHE = 10_000  # words a stemmer remembers, in each thread

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
_ACCENTS = re.compile("[\u0300-\u036f]")
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)

_STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
# Languages whose words, with accents, are tried where a query is too short to tell.
_GUESSES = ("de", "es", "fr", "pt")
# First and last character of a script, and the language that its words are stemmed by.
_SCRIPTS = (
    ("\u0000", "\u024f", "en"),
    ("\u1e00", "\u1eff", "en"),
    ("\u0370", "\u03ff", "el"),
    ("\u1f00", "\u1fff", "el"),
    ("\u0400", "\u052f", "ru"),
    ("\u0530", "\u058f", "hy"),
    ("\u0590", "\u05ff", "yi"),
    ("\u0600", "\u08ff", "ar"),
    ("\u0900", "\u097f", "hi"),
    ("\u0b80", "\u0bff", "ta"),
)
_SCRIPT_OF = {
    "ru": "ru",
    "sr": "ru",
    "el": "el",
    "hy": "hy",
    "yi": "yi",
    "ar": "ar",
    "fa": "ar",
    "hi": "hi",
    "ne": "hi",
    "ta": "ta",
}


class _Stemmer(Protocol):
    maxCacheSize: int  # noqa: N815 - PyStemmer's name

    def stemWords(self, words: Sequence[str], /) -> list[str]: ...  # noqa: N802 - PyStemmer's name


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
    for stems, times in zip(_stems(list(words), detect(text)), words.values(), strict=True):
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
        *_guessed(_stems(kept, language), kept, language),
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


# --- stems


class _Stemmers(threading.local):
    """Stemmers are not thread-safe: each thread has its own."""

    def __init__(self) -> None:
        self.known: dict[str, _Stemmer | None] = {}

    def get(self, language: str) -> _Stemmer | None:
        try:
            return self.known[language]
        except KeyError:
            stemmer = self.known[language] = _new_stemmer(language)
            return stemmer


def _new_stemmer(language: str) -> _Stemmer | None:
    name = _STEMMERS.get(language)
    module = import_module("Stemmer")  # native: loaded by whoever stems
    if name not in module.algorithms():
        return None
    stemmer = cast(_Stemmer, module.Stemmer(name))
    stemmer.maxCacheSize = _STEM_CACHE
    return stemmer


_stemmers = _Stemmers()


def _stems(words: Sequence[str], language: str | None) -> Iterable[tuple[str, ...]]:
    """For each word the stem of its script's default language, then that of *language* if it differs."""
    defaults = _default_stems(words)
    if language is None or language == "en":
        return ((stem,) for stem in defaults)
    return (
        (stem,) if own is None or own == stem else (stem, own)
        for stem, own in zip(defaults, _own_stems(words, language), strict=True)
    )


def _guessed(
    stems: Iterable[tuple[str, ...]], words: Sequence[str], language: str | None
) -> Iterator[tuple[str, ...]]:
    """The stems, and where nobody knows a query's language, more of those for accented Latin words.

    `Häuser` alone is too short for language detection, but must find `Haus` in a German text.
    """
    for found, word in zip(stems, words, strict=True):
        if language is None and not word.isascii() and _script(word) == "en":
            guesses = (_without_accents(_stemmed([word], guess)[0]) for guess in _GUESSES)
            yield tuple(dict.fromkeys((*found, *guesses)))
        else:
            yield found


def _default_stems(words: Sequence[str]) -> list[str]:
    if "".join(words).isascii():
        return _stemmed(words, "en")
    return [stem or "" for stem in _by_script(words, {code: code for _, _, code in _SCRIPTS} | {"": ""})]


def _own_stems(words: Sequence[str], language: str) -> list[str | None]:
    if language not in _STEMMERS:
        return [None] * len(words)
    own = _by_script(words, {_SCRIPT_OF.get(language, "en"): language}, fold_first=False)
    return [None if stem is None else _without_accents(stem) for stem in own]


def _by_script(
    words: Sequence[str], languages: Mapping[str, str], fold_first: bool = True
) -> list[str | None]:
    """The stem of each word whose script is among *languages*, in that script's language."""
    groups: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        script = _script(word)
        if script in languages:
            groups.setdefault(script, []).append(position)
    found: list[str | None] = [None] * len(words)
    for script, positions in groups.items():
        group = [_without_accents(words[p]) if fold_first else words[p] for p in positions]
        for position, stem in zip(positions, _stemmed(group, languages[script]), strict=True):
            found[position] = stem
    return found


def _stemmed(words: Sequence[str], language: str) -> list[str]:
    stemmer = _stemmers.get(language)
    if stemmer is None:
        return list(words)
    return [stem or word for stem, word in zip(stemmer.stemWords(words), words, strict=True)]


def _script(word: str) -> str:
    """The language by which a word's script is stemmed; empty for other scripts."""
    return "en" if word.isascii() else _letter_script(word[0])


@cache
def _letter_script(letter: str) -> str:
    return next((code for first, last, code in _SCRIPTS if first <= letter <= last), "")


def _without_accents(word: str) -> str:
    """A Latin word in plain letters; other scripts keep their marks, where they are letters of their own."""
    if word.isascii() or _script(word) != "en":
        return word
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", word))
    return bare.translate(_UNDECOMPOSED) or word


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
        else _stop_words(_DEFAULT_STOPS.get(_script(word), "en"))
    )
    return word in words


_DEFAULT_STOPS = {"ru": "ru"}


@cache
def _stop_words(language: str | None) -> frozenset[str]:
    words = STOPWORDS.get(language or "en", frozenset())
    return words | {_without_accents(word) for word in words}
