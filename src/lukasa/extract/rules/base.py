"""What a language must bring for the rules to read it: a table of patterns and three small functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from re import Pattern
from typing import Final, Literal

Span = tuple[int, int]
Piece = tuple[int, int, str]  # a span, and what to put before it: a subject that it shares with another
Reason = Literal[
    "question",
    "request",
    "small talk",
    "hypothetical",
    "role-play",
    "quoted",
    "pasted",
    "opinion",
    "passing",
    "sarcasm",
    "recalled",
    "secret",
    "corrected",
    "nothing lasting",
    "language",
]
REASONS: Final[Mapping[Reason, str]] = {
    "question": "a question",
    "request": "a request",
    "small talk": "greeting, thanks or filler",
    "hypothetical": "supposed, not said to be so",
    "role-play": "said in a role",
    "quoted": "somebody else's words",
    "pasted": "a pasted text",
    "opinion": "an opinion of the moment",
    "passing": "true for the moment only",
    "sarcasm": "not meant as said",
    "recalled": "a memory that came back",
    "secret": "it held a secret",
    "corrected": "the speaker took it back",
    "nothing lasting": "no sign that it will matter later",
    "language": "no rules for its language",
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whose turn is read: how the one who speaks is called in what is written down."""

    label: str  # "User", "用户", "Assistant", or a name
    named: bool = False
    agent: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """One language's rules. `features` names what it finds in a clause; `weights` says what that counts.

    A feature that is named as a `Reason` drops the clause; "instruction", "correction" and "dependent" say
    what else becomes of it.
    """

    code: str
    label: str  # the user, as memories call them
    agent_label: str
    least: int  # a clause of a smaller size says nothing
    needed: float  # the sum of weights from which a clause is kept
    weights: Mapping[str, float]
    features: Callable[[str], frozenset[str]]
    turn_features: Callable[[str], frozenset[str]]  # "role-play", "role-play ends", "sarcasm"
    paste_header: Pattern[str]
    paste_noun: Pattern[str]  # what may be pasted below a request without a colon
    recalled_header: Pattern[str]
    size: Callable[[str], int]
    split: Callable[[str], Sequence[Piece]]
    strip: Callable[[str], str]  # fillers at both ends
    explicit: Callable[[str, str], str]  # (clause, label): with its subject written out
