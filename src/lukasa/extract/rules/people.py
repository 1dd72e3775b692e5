"""Who "she" is: the one person that the clause before it named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lukasa.extract.rules.english import KIN

_I = re.IGNORECASE
_RELATED: Final = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir)\s+(?:\w+\s+){{0,2}}?(?P<kin>{KIN})(?:,?\s+(?P<name>[A-Z][\w'’-]+))?"
)
_NAMED: Final = re.compile(
    r"^(?P<name>[A-Z][a-z\u00c0-\u024f'’-]+)\s+(?:is|was|has|had|lives|works|loves|hates|likes|eats|wants|said|told|and)\b"
)
_SHE: Final = re.compile(
    r"^(?P<lead>\W*(?:(?:and|but|so|also)\s+)?)(?P<word>she|he|her|his)(?P<rest>['’]s\b)?(?=\W)", _I
)
_PLURAL: Final = re.compile(r"(?:parents|kids|children|twins|siblings|team|pets|in-laws|s)$")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom a clause named: how to call them."""

    label: str


def mentioned(clause: str, language: str) -> list[Person]:
    """The persons of the clause."""
    if language != "en":
        return []
    found = [
        Person(match["name"] or f"my {match['kin']}")
        for match in _RELATED.finditer(clause)
        if match["name"] or not _PLURAL.search(match["kin"])
    ]
    if not found and (match := _NAMED.match(clause)):
        found.append(Person(match["name"]))
    return found


def resolved(clause: str, people: Sequence[Person], language: str) -> str:
    """The clause with its first "she" or "his" replaced, where only one person can be meant."""
    if language != "en" or len(people) != 1:
        return clause
    match = _SHE.match(clause)
    if match is None:
        return clause
    label = people[0].label
    word = match["word"].lower()
    put = f"{label}'s" if word in ("her", "his") or match["rest"] else label
    if match["rest"]:
        put = f"{label} is"
    return f"{match['lead']}{put}{clause[match.end() :]}"
