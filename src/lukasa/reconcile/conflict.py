"""Whether a new fact ends a known one. Pure, and shy: where it is not sure, both stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lukasa.claims.base import Claim
from lukasa.claims.classes import DIETS, KINDS
from lukasa.claims.read import claims
from lukasa.text.tokens import query_words

# One value at a time, but said together with the other: "works at Varnholt as an analyst".
_TOGETHER: Final = (
    frozenset({"employer", "job", "manager", "boss", "shift"}),
    frozenset(
        {
            "relationship",
            "wife",
            "husband",
            "partner",
            "girlfriend",
            "boyfriend",
            "女友",
            "男友",
            "老婆",
            "老公",
        }
    ),
    frozenset({"height", "weight", "age"}),
)
_BOTH: Final = re.compile(
    r"\b(?:also|as well|another|second|part[- ]time|on the side|both|besides|in addition|too)\b"
    r"|除了|也|还(?!是)|還(?!是)|兼|另外一",
    re.IGNORECASE,
)
_CHANGED: Final = re.compile(
    r"\b(?:now|instead|switched|switching|moved|changed|no longer|not .{1,20} anymore|"
    r"from now on|replaced|these days|as of)\b"
    r"|现在|現在|改|换|換|不再|以后|以後|如今",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|without|cannot|can't|doesn't|don't|isn't|won't|nobody|none)\b|不|没|沒|别|別|戒|未",
    re.IGNORECASE,
)
_NAMES: Final = re.compile(r"(?<!^)(?<!\. )\b[A-Z][\w'-]+")
_FIGURES: Final = re.compile(r"\d+(?:[.:]\d+)?")
_NOTHING: Final = ("no", "not any")
_EARLIER: Final = timedelta(days=31)


@dataclass(frozen=True, slots=True)
class Statement:
    """A text with what it claims, when it was said and, where that is another time, when it happened."""

    text: str
    claims: Sequence[Claim]
    words: frozenset[str]
    said_at: datetime | None = None
    happened: datetime | None = None


def statement(
    text: str,
    *,
    speaker: str | None = None,
    said_at: datetime | None = None,
    happened: datetime | None = None,
) -> Statement:
    """*text* as a statement; *speaker* is the name of who is "I" in it."""
    found = claims(text, speaker=speaker)
    words = frozenset(spellings[0] for spellings in query_words(text))
    return Statement(text, found, words, said_at, happened)


def older(one: Statement, other: Statement) -> bool:
    """Whether *one* was said before *other*."""
    return one.said_at is not None and other.said_at is not None and one.said_at < other.said_at


def ends(new: Statement, known: Statement) -> str | None:
    """Why *known* holds no longer once *new* is said; None where both can be true."""
    if new.happened is not None and known.said_at is not None and new.happened + _EARLIER < known.said_at:
        return None  # an old event, told later, does not undo what came after it
    both = _BOTH.search(new.text) is not None
    for claim in new.claims:
        for other in known.claims:
            if claim.subject != other.subject:
                continue
            reason = (
                _single(claim, other, known.claims, both=both)
                or _toward(claim, other)
                or _diet(claim, other)
                or _diet_left(new, claim, other)
            )
            if reason is not None:
                return reason
    return _named_as_past(new, known) or (None if both else _same_predicate(new, known))


def repeats(new: Statement, known: Statement) -> bool:
    """Whether *known* says all that *new* says."""
    if new.text == known.text:
        return True
    if not new.words or not new.words <= known.words:
        return False
    return _polarity(new) == _polarity(known) and set(_FIGURES.findall(new.text)) <= set(
        _FIGURES.findall(known.text)
    )


def _polarity(one: Statement) -> bool:
    return _NEGATED.search(one.text) is not None


def _single(claim: Claim, other: Claim, around: Sequence[Claim], *, both: bool) -> str | None:
    if not (claim.single and other.single) or not _same_attribute(claim.attribute, other.attribute):
        return None
    if not _about_this_only(other.attribute, around):
        return None
    name = claim.attribute.partition(":")[0]
    if not claim.holds:
        if other.holds and (not claim.value or _overlap(claim.value, other.value)):
            return f"{name} ended"
        return None
    if not other.holds:
        return f"{name} began" if other.value in _NOTHING or _overlap(claim.value, other.value) else None
    if _agree(claim.value, other.value):
        return None
    return None if both and name not in ("schedule", "reply") else f"{name} changed"


def _same_attribute(one: str, other: str) -> bool:
    if one == other:
        return True
    name, _, topic = one.partition(":")
    other_name, _, other_topic = other.partition(":")
    if name != other_name or name != "schedule":
        return False
    if _HAN.search(topic):
        return topic in other_topic or other_topic in topic
    words, others = _split(topic), _split(other_topic)
    return bool(words) and bool(others) and (words <= others or others <= words)


def _about_this_only(attribute: str, around: Iterable[Claim]) -> bool:
    """A memory that also says something else is not ended by a change of this alone."""
    named = {claim.attribute for claim in around if claim.single}
    if named == {attribute}:
        return True
    return any(attribute in group and named <= group for group in _TOGETHER) or attribute.startswith("reply:")


def _agree(one: str, other: str) -> bool:
    words, others = _split(one), _split(other)
    if not words or not others:
        return one == other or one in other or other in one
    return words <= others or others <= words


def _overlap(one: str, other: str) -> bool:
    return _agree(one, other) or bool(_split(one) & _split(other))


_LITTLE: Final = frozenset(
    ("the", "a", "an", "of", "in", "on", "at", "to", "for", "with", "his", "her", "their", "user's", "my")
)
_HAN: Final = re.compile("[\u3400-\u9fff]")


def _split(value: str) -> frozenset[str]:
    if _HAN.search(value):
        return frozenset([value])
    return frozenset(_stem(word) for word in re.findall(r"[\w'’-]+", value) if word not in _LITTLE)


def _stem(word: str) -> str:
    word = word.removesuffix("'s").rstrip("'")
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _toward(claim: Claim, other: Claim) -> str | None:
    if claim.attribute != "toward" or other.attribute != "toward" or claim.holds == other.holds:
        return None
    if not claim.value or not other.value or not _covers(claim.value, other.value):
        return None
    return "no longer so" if other.holds else "began"


def _covers(wide: str, narrow: str) -> bool:
    """Whether what is said of *wide* is said of *narrow*: the same thing, or its kind."""
    if _HAN.search(wide) or _HAN.search(narrow):
        return wide in narrow or any(item in narrow for item in KINDS.get(wide, ()))
    words, others = _split(wide), _split(narrow)
    return bool(words) and all(
        word in others or any(_stem(item) in others for item in KINDS.get(word, ())) for word in words
    )


def _diet(claim: Claim, other: Claim) -> str | None:
    if claim.attribute != "diet" or other.attribute != "toward" or not other.holds:
        return None
    for kind in DIETS.get(claim.value, ()):
        for item in KINDS[kind] | {kind}:
            if item in other.value if _HAN.search(item) else _stem(item) in _split(other.value):
                return f"now {claim.value}"
    return None


def _diet_left(new: Statement, claim: Claim, other: Claim) -> str | None:
    """Who eats meat again is vegetarian no longer."""
    if other.attribute != "diet" or claim.attribute != "toward" or not claim.holds:
        return None
    if _AGAIN.search(new.text) is None:
        return None
    forbidden = {item for kind in DIETS.get(other.value, ()) for item in KINDS[kind] | {kind}}
    eaten = {claim.value} if _HAN.search(claim.value) else _split(claim.value)
    return "diet changed" if eaten & {_stem(item) for item in forbidden} else None


_AGAIN: Final = re.compile(r"\b(?:again|back to|now|these days|started)\b|又|重新|开始|改", re.IGNORECASE)


# "Zed instead of Vim", "not the 0148 one", "尾号8823那个不用了": what is named here is over.
_PAST_THING: Final = re.compile(
    r"\b(?:instead of|no longer|moved (?:on|off|away) from|switched (?:away )?from|rather than|"
    r"dropped|ditched)"
    r"\s+(?:the |my |their |using )?(?P<a>[\w.+#-]{3,})"
    r"|\bnot (?:the )?(?P<b>[\w-]*\d{3,}[\w-]*)(?: one)?\b|\bmoved off (?P<c>\w{3,})"
    r"|(?P<d>\d{3,})(?:那个|那個)?(?:不用|停用|作废|作廢)"
    r"|(?:唔再係|不再是|不是)\s?(?P<e>[A-Za-z]{3,}|[\u4e00-\u9fff]{2,4})(?:了|喇|啦)"
    r"|(?P<f>[A-Za-z][A-Za-z+#]{1,}|[\u4e00-\u9fff]{2,4})(?:那套|那个|那個)?(?:翻篇|不用了|停了|作废)",
    re.IGNORECASE,
)


def _named_as_past(new: Statement, known: Statement) -> str | None:
    """The new fact names something as over, and the known one says that it is so."""
    for match in _PAST_THING.finditer(new.text):
        thing = next(value for value in match.groups() if value)
        edge = r"(?<!\w)" if thing[0].isascii() and not thing.isdigit() else ""
        found = re.search(
            rf"{edge}{re.escape(thing)}(?!\w)" if edge else re.escape(thing), known.text, re.IGNORECASE
        )
        if found and not _polarity(known) and _owner(new) == _owner(known):
            return "replaced"
    return None


def _owner(one: Statement) -> str:
    """Whose thing a text speaks of, where that is said: "User's mother's phone"."""
    match = _OF_OTHERS.search(one.text)
    return match[0].lower() if match else ""


_OF_OTHERS: Final = re.compile(
    r"\b(?:mother|father|mum|mom|dad|wife|husband|sister|brother|son|daughter|friend|boss|partner)'s\b|妈妈|爸爸|妈|爸|老婆|老公|女儿|儿子|姐姐|哥哥",
    re.IGNORECASE,
)


def _same_predicate(new: Statement, known: Statement) -> str | None:
    """ "We track tickets in Trellix now" ends "tracks tickets in Jarrow Board"."""
    if _CHANGED.search(new.text) is None or _polarity(new) != _polarity(known):
        return None
    names = {name.lower() for name in _NAMES.findall(known.text)}
    if not names or names <= {name.lower() for name in _NAMES.findall(new.text)}:
        return None
    rest = {word for word in known.words if not any(word in name or name in word for name in names)} - _WHO
    shared = rest & new.words
    return (
        "replaced"
        if len(shared) >= 2 and len(shared) >= 0.6 * len(rest) and _who(new) == _who(known)
        else None
    )


_WHO: Final = frozenset({"user", "team", "our", "their"})


def _who(one: Statement) -> str:
    match = re.match(r"(?:(User|Assistant)\b|([A-Z][\w-]+))", one.text)
    return "" if match is None else (match[1] or match[2]).lower()
