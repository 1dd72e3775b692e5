"""English: what clauses are, what speaks for and against keeping one, and how its subject is written out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from lukasa.extract.rules import english_words as words
from lukasa.extract.rules.base import Language, Piece, Span
from lukasa.extract.rules.english_words import KIN
from lukasa.text.phrases import Phrases
from lukasa.text.verbs_en import BASE, PAST, is_past, third_person

_I = re.IGNORECASE
_ADVERB = (
    r"(?:also|always|never|really|just|still|usually|often|only|actually|mostly|currently|now|literally|"
    r"sometimes|rarely|hardly|already|recently|finally|absolutely|totally|kinda|sorta|generally|typically|"
    r"normally|happily|honestly|basically|mainly|primarily|officially|probably|definitely|personally|"
    r"strictly|simply|seriously|genuinely|even|ever|no longer|barely|regularly|occasionally|gladly|both|"
    r"first|originally|recently|do|did|then|pretty much|all)"
)
_SUBJECT = (
    r"(?:i|we|she|he|they|it|the|there|my|our|his|her|their|this|that|im|ive|i'm|i've|we're|i'll|i'd|we've)"
)

# --- clauses

_NEXT: Final = r"(?:i|im|ive|i'm|i've|i'll|i'd|my|we|we're|we've|our)\b"
_BREAK: Final = re.compile(
    rf"""(?=[\s;,.!?:])(?:
      ,?\s+(?:(?:and|but|so|plus|oh\sand|also|though|cos|coz)\s+(?={_NEXT})
        | (?=(?:btw|by\sthe\sway)\b)
        | [-–—]{{1,2}}\s+(?={_SUBJECT}\b)
        | (?<=\w\s)(?=(?:can|could)\s(?:you|u)\b))
    | ,\s+(?={_NEXT}|(?:what|how|can|could|should|would\syou|do\syou|did\syou|any\s(?:ideas|tips|advice|suggestions|recommendations|chance)|which|where|is\sthere|are\sthere|please|pls|so\scan|and\swhat|help)\b)
    | :\s+(?=(?:i|i'm|my|we)\b)
    | \s*;\s*
    | [!?]+\s+(?=\w)
    | (?<=[a-z\u00e0-\u024f][a-z\u00e0-\u024f])(?<!e\.g)(?<!i\.e)(?<!\bvs)(?<!\bdr)(?<!\bmr)(?<!\bmrs)(?<!\bst)(?<!approx)(?<!\betc)\.+\s+(?=[a-z])
    )""",
    re.VERBOSE,
)
# A sentence without a full stop goes on at the next "i live", unless a word before it takes a clause.
_RUN_ON: Final = re.compile(
    r"(?<=\w)\s+(?=(?:i|my)\s(?:am|live|work|have|love|like|hate|also|really|usually|always|never|was|got|moved|just|recently|name|wife|husband|dog|cat|son|daughter)\b|(?:im|i'm)\s)",
)
_TAKES_CLAUSE: Final = frozenset(
    """that because when what where how if as while which than and but or who why think know hope wish said says
    since before after until till so do did can should would could am will have cause cos whatever everything
    something anything thing things place time way day reason all one the guess mean say sure glad sorry
    whether unless although though like tell told is was people person with of for to about from""".split()
)


# "From 1 May I work at Nordtre" is one clause.
_SETTING: Final = frozenset(
    "from in on since at by after before during until every last next this for as".split()
)


def split(sentence: str) -> Sequence[Piece]:
    """The clauses of a sentence: spans that leave out what joins them, and the subject where it is shared."""
    low = sentence.lower().replace("’", "'")
    if len(low) != len(sentence):  # a letter whose small form is longer
        low = sentence
    spans: list[Span] = []
    at = 0
    for match in _BREAK.finditer(low):
        if match.start() > at:
            spans.append((at, match.start()))
            at = match.end()
    spans.append((at, len(sentence)))
    # Who writes "I" and full stops does not run on: there "the tips I got" is one thing.
    careful = _CAREFUL.search(sentence) is not None
    return [part for span in spans for part in (_series(low, span) if careful else _run_ons(low, span))]


def _run_ons(sentence: str, span: Span) -> list[Piece]:
    start, end = span
    parts: list[Span] = []
    for match in _RUN_ON.finditer(sentence, start, end):
        before = sentence[start : match.start()].split()
        last = before[-1].strip(",'\"") if before else ""
        if len(before) >= 3 and last not in _TAKES_CLAUSE and before[0] not in _SETTING:
            parts.append((start, match.start()))
            start = match.end()
    parts.append((start, end))
    return [part for whole in parts for part in _series(sentence, whole)]


_CAREFUL: Final = re.compile(r"(?<!\w)I(?!\w)")
_I_AM: Final = re.compile(r"\W*(?:(?:hi|hey|hello|so|ok|well)\W+)*(?:i'm|im|i am)\b", _I)
_INTRODUCTION: Final = 6  # words: "hi, I'm Ana Sousa" is no more
_SERIES: Final = re.compile(
    r"(?:,|\s+but|\s+and|,\s+and)\s+(?=(?:originally|from|living|based|working|born|studying|married|single|\d{2}(?:\s+years?\sold)?(?:,|$)|an?\s\w+))",
    _I,
)


def _series(sentence: str, span: Span) -> list[Piece]:
    """ "I'm Ana, 34, from Porto" says three things."""
    start, end = span
    if _I_AM.match(sentence, start, end) is None:
        return [(start, end, "")]
    parts: list[Piece] = []
    first = _SERIES.search(sentence, start, end)
    if first is None or len(sentence[start : first.start()].split()) > _INTRODUCTION:
        return [(start, end, "")]
    for match in _SERIES.finditer(sentence, start, end):
        parts.append((start, match.start(), "I'm " if parts else ""))
        start = match.end()
    parts.append((start, end, "I'm " if parts else ""))
    return parts


# --- what a clause has to say for itself

_PHRASES: Final = Phrases(words.PHRASES)
_AT_START: Final = {name: re.compile(pattern) for name, pattern in words.AT_START.items()}
_SMALL_TALK: Final = re.compile(words.SMALL_TALK)
_IN_TURN: Final = Phrases(
    {
        "role-play": words.ROLE_PLAY,
        "role-play ends": words.ROLE_PLAY_ENDS,
        "sarcasm": words.SARCASM,
        "gushing": words.GUSHING,
    }
)
_CODE_MARK: Final = re.compile(r"[{}<>]|==|\(\)|\w_\w")
_NOT_WORDS: Final = re.compile(r"^[\W_]+")


def features(clause: str) -> frozenset[str]:
    """The names of the patterns that speak for or against the clause."""
    low = _NOT_WORDS.sub("", clause.lower().replace("’", "'"))
    if not low or _SMALL_TALK.match(low):
        return frozenset({"small talk"})
    found = set(_PHRASES.found(low))
    found.update(name for name, pattern in _AT_START.items() if pattern.match(low))
    if not clause.islower():
        found.update(_cased(clause, low))
    if _CODE_MARK.search(clause):
        found.add("code")
    if low.rstrip(" )*_\"'”").endswith("?"):
        found.add("question")
    return frozenset(found)


def _cased(clause: str, low: str) -> Iterator[str]:
    """What capitals tell; patterns that need a word are tried only where it stands."""
    for name, pattern in words.CASED.items():
        hints = words.CASED_HINTS.get(name)
        if (hints is None or any(hint in low for hint in hints)) and pattern.search(clause):
            yield name


def turn_features(turn: str) -> frozenset[str]:
    """What is so of a whole turn: that it is played, or not meant."""
    found = _IN_TURN.found(turn.lower().replace("’", "'"))
    return found | {"sarcasm"} if "🙃" in turn or "🙄" in turn or turn.rstrip().endswith(" /s") else found


# --- the subject written out

_LEAD: Final = re.compile(
    r"^(?:[\W_]*+(?:hi+|hey+|hello+|oh|ok|okay|so|well|and|but|also|btw|by the way|just so you know|just fyi|fyi|update|yeah|yes|yep|yup|no(?=[,.!]|\s+i\b)|nope|nah|anyway|anyways|"
    r"honestly|actually|haha+|hehe|lol|hmm+|um+|ugh|wow|good(?:(?= morning| evening| afternoon) \w+|(?=[,.!]))|morning|thanks|thank you|thx|great|cool|nice|sure|right|decided|brain dump|"
    r"please remember(?: that)?|remember(?: that| this)?(?=[\s:])|(?:please )?note(?: that)?|for the record|heads up|for reference|keep in mind(?: that)?|as i said|like i said|plus|because|cos|since you asked|"
    r"to be honest|tbh|out of character|ooc|well then|quick (?:update|note)|small update|side note|first(?: of all|ly)?|second(?:ly)?|also just|speaking of which|for context|context|some context|a bit about me|about me|wait|sorry|uh+|er+m?|um+|second(?= i\b)|third(?= i\b)|first off|okay so|bunch of stuff|few things)(?:(?=[\W_])[^\w'\"“‘(]*+|$))++",
    _I,
)
_TAIL: Final = frozenset(
    """lol lmao haha hahaha hehe btw tho though pls plz please honestly tbh imo right ok okay xd anyway anyways fyi
    thanks thx cheers mate bro dude x xx xxx :) :( ;) :d :p <3""".split()
)
_MARKS: Final = " \t\n,;:-–—*•>~!.…"
_EMOJI: Final = re.compile(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200d]+")


def strip(clause: str) -> str:
    """The clause without fillers before and behind, emoticons and trailing marks."""
    body = _LEAD.sub("", clause if clause.isascii() else _EMOJI.sub("", clause), count=1).strip()
    while True:
        rest, _, last = body.rpartition(" ")
        if not rest or last.lower().strip("!.,…") not in _TAIL:
            return body.lstrip(" \t\n,;:-–—*•>~").rstrip(_MARKS)
        body = rest.rstrip(" ,")


_QUOTED: Final = re.compile(r"\"[^\"]{2,}\"|“[^”]{2,}”")
_PRONOUN: Final = re.compile(
    rf"""(?<![\w'’])(?:
      (?P<am>i['’]?m|i\sam)(?![\w'’])
    | (?P<have>i['’]?ve)(?![\w'’])
    | (?P<will>i['’]ll)(?![\w'’])
    | (?P<would>i['’]d)(?![\w'’])
    | (?P<verb>i(?P<adv>(?:\s+{_ADVERB})*)\s+(?P<v>[a-z]+(?:['’]t)?))(?![\w'’])
    | (?P<inv>(?:am|have|do|was|had)\si)(?![\w'’])
    | (?P<my>my)(?![\w'’])
    | (?P<mine>mine)(?![\w'’])
    | (?P<me>me)(?![\w'’])
    | (?P<self>myself)(?![\w'’])
    | (?P<i>i)(?=\s+[a-z]|[,;]\s|$)
    )""",
    _I | re.VERBOSE,
)
_COORDINATED: Final = re.compile(
    r"\b(and|but)\s+((?:also|never|always|usually|often|only|then|now|mostly)\s+)?([a-z]+)\b"
)
_PARTICIPLE: Final = re.compile(
    r"^(?:\w+ly |also |never |always |just |already )?(?:been|better|had|gone|seen|\w+ed)\b"
)


def explicit(clause: str, label: str) -> str:
    """The clause about *label* in the third person; quotations stay as they are."""
    body = _with_subject(_MYSELF.sub("I am ", clause), label)
    made: list[str] = []
    at = 0
    for quote in _QUOTED.finditer(body):
        made += [_third(body[at : quote.start()], label), quote.group()]
        at = quote.end()
    text = "".join([*made, _third(body[at:], label)]).strip()
    text = text if text.startswith(label) else text[:1].upper() + text[1:]
    text = _GONNA.sub(lambda match: _SAID[match[0].lower()], text)
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."


_MYSELF: Final = re.compile(r"^myself (?=(?-i:[A-Z]))", _I)  # how one introduces oneself in India
_SAID: Final = {"gonna": "going to", "wanna": "want to", "gotta": "have to", "kinda": "kind of"}
_GONNA: Final = re.compile(r"\b(?:gonna|wanna|gotta|kinda)\b", _I)
_ELIDED_BE = re.compile(
    r"^(?:(?:also|still|now|currently|originally|already|just|always|not|never|finally)\s+)*(?:allergic|vegan|vegetarian|pescatarian|based|living|working|studying|learning|planning|moving|training|saving|originally|(?-i:from [A-Z])|married|single|divorced|"
    r"retired|\d{2}(?:\s+years?\sold)?$|born|flying|starting|going to|hoping|aiming|thinking of|off (?:to|dairy|sugar|gluten|alcohol|caffeine|meat|coffee)|lactose|expecting|pregnant|doing|using|in my)\b|^an?\s(?!bit)\w+\s(?:in|at|from|by|who|and)\b",
    _I,
)
_BARE_KIN = re.compile(
    rf"^(?!(?:mum|mom|dad|gran|grandma|grandpa|nan)\b(?-i:[A-Z])){KIN}s?\s+(?:is|are|was|were|has|have|had|will|got|starts?|started|loves?|hates?|wants?|called|turns?|turned|goes|went|just|likes?|moved|put|said|says|lives?|works?|can't|passed|had)\b",
    _I,
)
# An instruction to the assistant, not something that the speaker does.
_IMPERATIVE = re.compile(words.AT_START["instruction"], _I)
_ADVERBS_FIRST = re.compile(rf"^((?:{_ADVERB}\s+)*)([a-z]+(?:['’]t)?)\b(.*)$", _I | re.DOTALL)


def _with_subject(clause: str, label: str) -> str:
    """Says who, where the speaker left "I" out: "ran the half on sunday"."""
    if _BARE_KIN.match(clause):
        return f"my {clause[:1].lower()}{clause[1:]}"
    if _IMPERATIVE.match(clause):
        return clause
    if _ELIDED_BE.match(clause):
        return f"{label} is {clause[:1].lower()}{clause[1:]}"
    found = _ADVERBS_FIRST.match(clause)
    if found is None:
        return f"{label}: {clause}" if _plural(clause) else clause
    adverbs, verb, rest = found.groups()
    lower = verb.lower().replace("’", "'")
    if lower in ("we", "we're", "we've", "let's", "lets", "our") or _plural(clause):
        return f"{label}: {clause}"
    if lower in ("can't", "cant", "cannot", "don't", "dont") or (
        (lower in BASE or lower in PAST or (is_past(lower) and rest.strip()))
        and lower not in ("was", "were")
        and not re.match(r"\s+(?:is|are|was|were|has|will)\b|\s*['’]s\b", rest)
    ):
        return f"I {adverbs.lower()}{lower}{rest}"
    return clause


_WE = re.compile(r"^(?:we|we['’]\w+|us|let['’]?s)\b", _I)


def _plural(clause: str) -> bool:
    return _WE.match(clause) is not None


def _third(text: str, label: str) -> str:
    said_i = False

    def put(match: re.Match[str]) -> str:
        nonlocal said_i
        given = match.groupdict()
        joint = text[: match.start()].rstrip().lower().endswith(("and", " or"))
        if given["am"]:
            said_i = True
            return f"{label} is" if not joint else f"{label} are"
        if given["have"]:
            said_i = True
            return f"{label} has"
        if given["will"]:
            return f"{label} will"
        if given["would"]:
            return f"{label} {'had' if _PARTICIPLE.match(text[match.end() :].lstrip()) else 'would'}"
        if given["verb"]:
            said_i = True
            verb = match["v"].lower().replace("’", "'")
            plain = joint or re.search(
                r"\b(?:did|does|do|can|could|will|would|should|let|makes?|help(?:s|ed)?)\s*$",
                text[: match.start()],
                _I,
            )
            return f"{label}{match['adv'].lower()} {verb if plain else third_person(verb)}"
        if given["inv"]:
            verb = match["inv"].split()[0].lower()
            return f"{third_person(verb)} {label}"
        if given["my"]:
            return "their" if said_i and not joint else f"{label}'s"
        if given["mine"]:
            return "theirs" if said_i else f"{label}'s"
        if given["self"]:
            return "themselves"
        return label

    made = _PRONOUN.sub(put, text)
    if said_i:
        made = _COORDINATED.sub(_agreed, made)
    return made


def _agreed(match: re.Match[str]) -> str:
    joint, adverb, verb = match.groups()
    goes_on = match.string[match.end() :].split(" ", 2)[1:2]
    sure = verb in _SURE or (verb in BASE and goes_on in (["as"], ["at"], ["for"], ["in"], ["to"], ["with"]))
    return f"{joint} {adverb or ''}{third_person(verb)}" if sure else match.group()


# After "and" these are verbs more often than nouns.
_SURE: Final = frozenset(
    "live teach speak eat take go make know think hate love prefer enjoy own have write bake sing draw keep avoid lead sell buy grow earn collect volunteer attend belong suffer struggle".split()
)

ENGLISH: Final = Language(
    code="en",
    label="User",
    agent_label="Assistant",
    least=2,
    needed=1.6,
    weights=words.WEIGHTS,
    features=features,
    turn_features=turn_features,
    paste_header=words.PASTE_HEADER,
    paste_noun=words.PASTE_NOUN,
    recalled_header=words.RECALLED_HEADER,
    size=lambda clause: len(clause.split()),
    split=split,
    strip=strip,
    explicit=explicit,
)
