"""How somebody wants to be answered, as English claims: "always in bullet points"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lukasa.claims.base import USER, Claim
from lukasa.claims.english_words import plain

_I = re.IGNORECASE
_ANSWERS: Final = (
    (
        "reply:form",
        re.compile(
            r"\b(?P<v>bullet points?|bullets|lists?|paragraphs?|prose|tables?|plain text|markdown|numbered lists?)\b",
            _I,
        ),
    ),
    (
        "reply:length",
        re.compile(
            r"\b(?P<v>short|brief|concise|one[- ]sentence|detailed|long|in depth|in-depth|thorough|(?:max(?:imum)?|at most|under|within|up to) \w+ (?:words|sentences|lines|bullets|points)|\w+ (?:words|sentences) (?:max|or less|at most))\b",
            _I,
        ),
    ),
    (
        "reply:language",
        re.compile(
            r"\bin (?P<v>english|german|french|spanish|chinese|italian|portuguese|dutch|polish|japanese|korean|hindi|arabic|turkish|swedish)\b",
            _I,
        ),
    ),
    (
        "reply:emoji",
        re.compile(
            r"(?P<v>\b(?:no|without|use|with|more|fewer|never|don't use|do not use|lots of|stop using)\b(?: \w+)? emojis?)",
            _I,
        ),
    ),
    ("reply:tone", re.compile(r"\b(?P<v>formal|informal|casual|friendly|professional|blunt|polite)\b", _I)),
    (
        "reply:units",
        re.compile(
            r"\b(?P<v>metric|imperial|celsius|fahrenheit|kilomet(?:er|re)s|miles|feet|inches|pounds)\b", _I
        ),
    ),
    (
        "reply:call",
        re.compile(
            r"\bcall(?:s|ed)? (?:User|me|him|her|them) (?P<v>[A-Z]?\w+)|\b(?:addressed|known) as (?P<w>(?:Mr|Mrs|Ms|Dr)?\.? ?\w+)",
            0,
        ),
    ),
)
_IMPERIAL: Final = frozenset(("imperial", "fahrenheit", "mile", "feet", "inche", "pound"))
_STANDING: Final = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|write|use|call|from now on|always|emojis?|explanations?|units|spelling|code|henceforth|addressed|metric|imperial)\b",
    _I,
)
_NEVER: Final = re.compile(r"\b(?:never|not|no|don't|avoid|without)\b[^,;]*$", _I)


def instructions(body: str) -> Iterator[Claim]:
    """What *body* asks of replies."""
    if _STANDING.search(body) is None:
        return
    for attribute, pattern in _ANSWERS:
        for match in pattern.finditer(body):
            if attribute != "reply:emoji" and _NEVER.search(body[: match.start()]):
                continue
            value = plain(match["v"] or match.groupdict().get("w") or "").rstrip("s")
            if attribute == "reply:units":
                value = "imperial" if value in _IMPERIAL else "metric"
            if attribute == "reply:emoji":
                value = "no" if re.match(r"(?:no|without|never|don't|do not|stop)", value) else "yes"
            yield Claim(USER, attribute, value)
            break
