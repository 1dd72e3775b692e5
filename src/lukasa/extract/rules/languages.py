"""Which rules read a text."""

from __future__ import annotations

import re
from typing import Final

from lukasa.extract.rules.base import Language
from lukasa.extract.rules.chinese import CHINESE
from lukasa.extract.rules.english import ENGLISH
from lukasa.text.language import detect

_HAN: Final = re.compile("[\u3400-\u9fff]")
_HEAD: Final = 4000  # characters looked at
_LATIN_WORDS: Final = re.compile(r"[a-z']+")
_ENGLISH_WORDS: Final = frozenset(
    """i i'm i've i'll i'd my mine the and you your with don't dont can't cant this that just have has had to of for
    was is are were be been not but it it's they we our she he her his from at as what when how who would could
    about there really always never lol btw pls thanks also now out up off got get going like love""".split()
)
_LATIN: Final = re.compile("[a-zA-Z]")


def language_of(text: str) -> Language | None:
    """The rules that can read *text*."""
    if _HAN.search(text):
        code = detect(text)
        return (
            CHINESE
            if code in ("zh", None)
            or (code != "ja" and len(_HAN.findall(text)) * 2 > len(_LATIN.findall(text)))
            else ENGLISH
            if code == "en"
            else None
        )
    code = detect(text)
    return ENGLISH if code in ("en", None) or _reads_as_english(text) else None


def _reads_as_english(text: str) -> bool:
    """Whether a third of the words are English ones: chat without capitals is easily taken for Dutch."""
    found = _LATIN_WORDS.findall(text[:_HEAD].lower().replace("’", "'"))
    hits = sum(word in _ENGLISH_WORDS for word in found)
    return hits >= 2 and hits * 3 >= len(found)
