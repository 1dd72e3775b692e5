"""Stems of words, for scripts and languages that Snowball knows: what makes `walks` find `walked`."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from lukasa.runtime import unforked

_STEM_CACHE = 10_000  # words a stemmer remembers, in each thread

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
    with unforked():
        module = import_module("Stemmer")  # native: loaded by whoever stems
    if name not in module.algorithms():
        return None
    stemmer = cast(_Stemmer, module.Stemmer(name))
    stemmer.maxCacheSize = _STEM_CACHE
    return stemmer


_stemmers = _Stemmers()


def stem_words(words: Sequence[str], language: str | None) -> Iterable[tuple[str, ...]]:
    """For each word the stem of its script's default language, then that of *language* if it differs."""
    defaults = _default_stems(words)
    if language is None or language == "en":
        return ((stem,) for stem in defaults)
    return (
        (stem,) if own is None or own == stem else (stem, own)
        for stem, own in zip(defaults, _own_stems(words, language), strict=True)
    )


def guessed(
    stems: Iterable[tuple[str, ...]], words: Sequence[str], language: str | None
) -> Iterator[tuple[str, ...]]:
    """The stems, and where nobody knows a query's language, more of those for accented Latin words.

    `Häuser` alone is too short for language detection, but must find `Haus` in a German text.
    """
    for found, word in zip(stems, words, strict=True):
        if language is None and not word.isascii() and script_of(word) == "en":
            guesses = (without_accents(_stemmed([word], guess)[0]) for guess in _GUESSES)
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
    return [None if stem is None else without_accents(stem) for stem in own]


def _by_script(
    words: Sequence[str], languages: Mapping[str, str], fold_first: bool = True
) -> list[str | None]:
    """The stem of each word whose script is among *languages*, in that script's language."""
    groups: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        script = script_of(word)
        if script in languages:
            groups.setdefault(script, []).append(position)
    found: list[str | None] = [None] * len(words)
    for script, positions in groups.items():
        group = [without_accents(words[p]) if fold_first else words[p] for p in positions]
        for position, stem in zip(positions, _stemmed(group, languages[script]), strict=True):
            found[position] = stem
    return found


def _stemmed(words: Sequence[str], language: str) -> list[str]:
    stemmer = _stemmers.get(language)
    if stemmer is None:
        return list(words)
    return [stem or word for stem, word in zip(stemmer.stemWords(words), words, strict=True)]


def script_of(word: str) -> str:
    """The language by which a word's script is stemmed; empty for other scripts."""
    return "en" if word.isascii() else _letter_script(word[0])


@cache
def _letter_script(letter: str) -> str:
    return next((code for first, last, code in _SCRIPTS if first <= letter <= last), "")


def without_accents(word: str) -> str:
    """A Latin word in plain letters; other scripts keep their marks, where they are letters of their own."""
    if word.isascii() or script_of(word) != "en":
        return word
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", word))
    return bare.translate(_UNDECOMPOSED) or word
