"""What a sentence claims of whom: what may contradict what is read from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

USER: Final = "user"
AGENT: Final = "assistant"


@dataclass(frozen=True, slots=True)
class Claim:
    """That *attribute* of *subject* is *value*; both lower-case, without articles.

    `holds` False says that it is so no longer, or never was. `single`: only one value at a time can be true.
    """

    subject: str  # "user", a name, or "user's sister"
    attribute: str  # "home", "employer", "favourite:colour", "toward" (likes and habits), ...
    value: str
    holds: bool = True
    single: bool = True
