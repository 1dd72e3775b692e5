"""English words as claims compare them."""

from __future__ import annotations

import re
from typing import Final

_I = re.IGNORECASE
_ARTICLE: Final = re.compile(
    r"^(?:the|a|an|my|his|her|their|our|some|any|to|user's|all|drinking|eating|playing)\s+", _I
)
_WORDS: Final = re.compile(r"[\w'’+.-]+")


def plain(text: str) -> str:
    """Lower case, without articles and end marks."""
    low = " ".join(_WORDS.findall(text.lower().replace("’", "'")))
    while (cut := _ARTICLE.sub("", low)) != low:
        low = cut
    return low.strip(" .-'")
