"""Claims of a memory's text, in whichever language it is written."""

from __future__ import annotations

import re
from functools import lru_cache

from lukasa.claims import chinese, english
from lukasa.claims.base import Claim

_HAN = re.compile("[\u3400-\u9fff]")


@lru_cache(maxsize=4096)
def claims(text: str, *, speaker: str | None = None) -> tuple[Claim, ...]:
    """What *text* claims. *speaker* is the name of the one who is "I" where a group talks."""
    han = len(_HAN.findall(text))
    if han * 3 > len(text):
        return tuple(chinese.read(text, speaker))
    return tuple(english.read(text, speaker))
