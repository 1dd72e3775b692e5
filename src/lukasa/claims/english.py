"""English claims. Patterns look at the text behind its subject ("lives in Leeds")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lukasa.claims.base import AGENT, USER, Claim
from lukasa.claims.english_replies import instructions
from lukasa.claims.english_words import plain

_I = re.IGNORECASE
_END = (
    r"(?=\s*(?:$|[,.;!?()]|\s(?:with|since|for|from|last|on|because|but|and|where|which|who|now|tho|though|anymore|completely|entirely|totally|altogether|"
    r"after|until|till|while|at|as|so|to|when|in (?:\d+|january|february|march|april|may|june|july|august|september|october|november|december|the week|spring|summer|autumn|winter))\b))"
)
_V = rf"(?P<v>[^,.;!?()]{{1,60}}?){_END}"
_ADV = r"(?:(?:now|currently|also|just|recently|still|finally|already|actually|has|have|is|usually|mostly|only|happily|always|never|really) )*"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_KIN = (
    r"wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|boss|manager|sister|brother|mum|mom|mother|dad|father|son|daughter|cousin|aunt|uncle|niece|"
    r"nephew|flatmate|roommate|friend|best friend|colleague|coworker|dog|cat|puppy|kitten|horse|landlord|teacher|therapist|doctor|dentist|mentor|supervisor|"
    r"grandma|grandpa|grandmother|grandfather|twins|kids|parents|neighbour|neighbor|team|company|baby|child|in-laws"
)
_ONE_OF: Final = frozenset(
    "wife husband partner girlfriend boyfriend fiancé fiancée fiance boss manager supervisor landlord therapist dentist".split()
)


def _p(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^{_ADV}(?:{pattern})", _I)


# (attribute, pattern, holds): of the subject itself.
_OF_SUBJECT: Final = (
    ("home", _p(rf"(?:lives?|living|resides?|settled|staying|based) (?:\w+ )??(?:in|at|near) {_V}"), True),
    (
        "home",
        _p(
            rf"(?:moved|relocated)(?: back| house| home)?(?: from .{{2,40}}?)?(?: (?:to|into)) (?!(?:mon|tues|wednes|thurs|fri|satur|sun)day|a |an |the (?!\w+lands)|part|full|python|java|go\b|linux|mac|windows|night|morning){_V}"
        ),
        True,
    ),
    (
        "employer",
        _p(
            rf"works? (?:\w+ ){{0,3}}?(?:at|for|with) (?!home|night|weekend|least|\d|a living|himself|herself|themselves|myself){_V}"
        ),
        True,
    ),
    (
        "employer",
        _p(
            rf"(?:joined|joins|started (?:working )?at|got hired (?:at|by)|got a (?:new )?job (?:at|with)|is employed (?:at|by)|is working (?:at|for)) {_V}"
        ),
        True,
    ),
    (
        "employer",
        _p(
            r"(?:an? |the )(?:\w+ ){1,4}at (?P<v>(?:a (?:startup|company|firm|bank|school|hospital) called )?[A-Z][\w&.' -]{1,40}?)(?=$|[,.;])"
        ),
        True,
    ),
    (
        "employer",
        _p(
            rf"(?:left|quit|resigned from|got laid off(?: from| by)?|was laid off(?: from| by)?|was fired(?: from| by)?|no longer works? (?:at|for)|retired(?: from)?)(?: (?:my|User's|their|the|his|her))?(?: old)?(?: job(?: at)?)? ?{_V}"
        ),
        False,
    ),
    ("home", _p(rf"moved (?:back )?in (?:with|w) .{{2,24}}? in {_V}"), True),
    ("home", _p(rf"(?:put up|staying|stationed) in {_V}"), True),
    (
        "shift",
        _p(r"(?:works? |on |doing )(?:the )?(?P<v>night|day|late|early|evening|weekend)s?(?: shifts?)?\b"),
        True,
    ),
    ("shift", _p(r"off (?P<v>night|day|late|early)s\b"), False),
    ("job", _p(rf"works? as (?:an? |the )?{_V}"), True),
    (
        "job",
        _p(
            r"(?:an? |the )?(?P<v>(?:\w+ ){0,3}?\w*(?:teacher|nurse|doctor|engineer|developer|designer|manager|accountant|lawyer|chef|baker|driver|plumber|electrician|analyst|scientist|writer|editor|journalist|architect|pilot|dentist|pharmacist|vet|barista|carpenter|librarian|mechanic|photographer|programmer|researcher|consultant|student|professor|paramedic|firefighter|gardener|farmer|musician|therapist|translator|tutor|surgeon|cook|florist|tailor|welder|builder))\b(?! (?:of|in law|because))"
        ),
        True,
    ),
    ("job", _p(rf"(?:got |was |been )?promoted to {_V}"), True),
    (
        "age",
        _p(r"(?:turned |turns )?(?P<v>\d{1,3})(?: years? old)?(?=$|[,.;]| (?:and|now|this|on|in|years))"),
        True,
    ),
    (
        "relationship",
        _p(r"(?:got |getting |been )?(?P<v>single|married|engaged|divorced|separated|widowed)\b"),
        True,
    ),
    ("relationship", _p(r"(?:in a (?P<v>relationship)|(?:dating|seeing|going out with) \w+)"), True),
    ("relationship", _p(r"(?P<v>broke up|split up|separated|got divorced)\b"), True),
    ("manager", _p(rf"report(?:s|ing)? to {_V}"), True),
    (
        "diet",
        _p(
            r"(?:gone |went |going |turned |became |become |eats? |on an? |a )?(?:strict(?:ly)? )?(?P<v>vegan|vegetarian|pescatarian|keto|halal|kosher|gluten[- ]free|omnivore|carnivore)\b"
        ),
        True,
    ),
    (
        "hometown",
        _p(rf"(?:originally )?(?:from|comes? from|grew up in|was born in) (?!now|here|home|the|scratch){_V}"),
        True,
    ),
    ("height", _p(r"(?P<v>\d{2,3}(?:\.\d+)? ?(?:cm|m)) tall"), True),
    (
        "weight",
        _p(
            r"weigh(?:s|ed|ing)? (?:in at |about |around )?(?P<v>\d{2,3}(?:\.\d+)? ?(?:kg|kilos?|lbs?|pounds)?)"
        ),
        True,
    ),
    (
        "medication",
        _p(r"(?:takes?|taking|on|uses?) (?P<v>no|not any) (?:medication|medicine|meds|pills|tablets)"),
        False,
    ),
    (
        "medication",
        _p(r"(?:takes?|started(?: taking)?|on|put on|prescribed) (?P<v>(?:\w+ ){0,2}?\w+(?: \d+ ?mg))"),
        True,
    ),
    ("pets", _p(r"(?:has|have|owns?) (?P<v>no) pets"), False),
    ("children", _p(r"(?:has|have) (?P<v>no) (?:kids|children)"), False),
)
_NO_MORE: Final = re.compile(
    rf"\bno more {_V}|\b(?:knocked|kicked) (?P<w>\w+) (?:on the head|to the curb|into touch)", _I
)
_PARTED: Final = re.compile(
    r"\b(?:called it quits|broke up|split up|parted ways|no longer together|got dumped|dumped)(?: with (?P<v>\w+))?",
    _I,
)
_SOLD: Final = re.compile(
    r"^(?:The |User's |Their )?(?P<v>\w+(?: \w+)?) (?:is|was|has been|got) sold\b|\b(?:sold|got rid of|gave away|traded in) (?:the |their |my )?(?P<w>\w+)",
    _I,
)
_MOVED_SHIFT: Final = re.compile(r"\bmoved \w+ (?:to|onto) (?P<v>days|nights|lates|earlies)\b", _I)
_PUT_ON: Final = re.compile(
    r"\bput (?:User|me|[A-Z]\w+) on (?P<v>\w+)|\bprescribed (?:User |me )?(?P<w>\w+)", _I
)
_GOT_PET: Final = re.compile(
    r"^(?:has |have |just |recently |finally )*(?:got|adopted|has|bought|rescued) an? (?:\w+ ){0,2}?(?:dog|cat|puppy|kitten|rabbit|hamster|parrot|pony)",
    _I,
)

# (holds, pattern): what the subject likes, does regularly, or has given up.
_TOWARD: Final = (
    (
        False,
        _p(
            rf"(?:has |is |'s )?(?:gone (?:right |completely |totally |clean )?off|packed in|cut out|come off|came off|given up|gave up|quit|stopped(?: \w+ing)?|sick of|tired of|fed up with|done with|off|went off|no longer (?:\w+s?)|cut out|swore off|dropped|avoids?|cannot stand|can't stand|cant stand|hates?|dislikes?|loathes?|despises?|not (?:a fan of|into|keen on|eating|drinking)|allergic to) (?:of |to )?{_V}"
        ),
    ),
    (
        False,
        _p(
            rf"(?:do(?:es)? not|doesn't|don't|did not|cannot|can't|won't|never) (?:\w+ly |even |really )?(?:like|eat|drink|enjoy|want|play|smoke|use|watch|have|take|do|touch|stand|own|go) (?:to )?{_V}"
        ),
    ),
    (
        True,
        _p(
            rf"(?:likes?|loves?|enjoys?|adores?|prefers?|into|a (?:huge |big )?fan of|started (?:to )?(?:like|enjoy)(?:ing)?|fond of|drinks?|eats?|plays?|smokes?|collects?|watches|practi[cs]es|goes to|drives?|owns?) (?:eating |drinking |playing |to (?:eat|drink|play) )?{_V}"
        ),
    ),
)
_FAVOURITE: Final = re.compile(
    rf"\bfavou?rite (?P<k>\w+(?: \w+)?) (?:is|are|was|has always been) (?:now )?{_V}", _I
)
_OWNED: Final = re.compile(
    rf"^(?P<k>name|age|(?:phone|mobile|cell)(?: number)?|number|e-?mail(?: address)?|address|birthday|blood type|timezone|time zone|height|weight|nickname|native language|job|job title|employer|hometown|{_KIN}|shoe size|"
    rf"salary|rent|car|budget|visa|major|school|university|diet) (?:is|are|was|has changed to|changed to|is now)(?: now)?(?: called| named| on| in)? {_V}",
    _I,
)
_KIN_NAME: Final = re.compile(
    rf"^(?:new )?(?P<k>{_KIN}),? (?:is |are )?(?:called |named )?(?P<n>[A-Z][\w'-]+)"
)
_KIN_ONLY: Final = re.compile(rf"^(?:\w+ ){{0,2}}?(?P<k>{_KIN})\b")
_PEOPLES: Final = (
    "English|British|Scottish|Welsh|Irish|American|Canadian|Australian|German|French|Spanish|Italian|Portuguese|Dutch|Polish|Swedish|Norwegian|"
    "Danish|Finnish|Greek|Turkish|Russian|Ukrainian|Chinese|Japanese|Korean|Indian|Pakistani|Brazilian|Mexican|Nigerian|Swiss|Austrian|Belgian|"
    "Czech|Hungarian|Romanian|Estonian|Latvian|Lithuanian|Vietnamese|Thai|Filipino|Singaporean|Malaysian|Indonesian|Israeli|Iranian|Egyptian|"
    "Jewish|Muslim|Christian|Catholic|Hindu|Buddhist|Sikh|European|African|Asian|Latino|Latina"
)
_NAME: Final = re.compile(
    r"^(?:is |'s )?(?:called |named |goes by )(?P<v>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*)|"
    rf"^is (?!(?:{_PEOPLES})\b)(?P<w>[A-Z][a-z'’-]+(?: [A-Z][\w'’-]+)*)(?=$|[,.])"
)
_SCHEDULE: Final = re.compile(
    rf"^(?P<k>(?:[\w'’.-]+ ){{0,7}}?[\w'’.-]+?)(?: |'s )(?:is|are|meets?|moved|has moved|have moved|moves|happens?|takes? place|got moved|was moved|runs?|starts?|is due|'s due|due|(?:is|was|got|has been) (?:preponed|postponed|shifted|pushed|brought forward|rescheduled))(?: now)?(?: rescheduled| scheduled| booked)?(?: on| to| for)? (?:the )?(?P<v>(?:{_DAY})[^,;]{{0,40}}|\d{{1,2}} \w+ \d{{4}}.{{0,20}}|(?:at )?\d{{1,2}}[:.]\d\d(?: ?[ap]m)?|(?:at )?\d{{1,2}} ?[ap]m)",
    _I,
)
_OURS: Final = re.compile(r"^(?:User|[A-Z]\w+): (?:we |our )?", _I)
_LEADS_ALL: Final = re.compile(r"^(?:On|In) (?:the week of )?[^,A-Z]*(?:[A-Z][a-z]+ )?\d{4},? ", 0)
_NO_NAME: Final = (
    r"(?:The|An?|This|That|These|Those|It|There|In|On|At|From|Since|After|Before|When|If|No|Not|Always|Never|Please|Nobody|Everybody|"
    r"Every|All|Some|Most|New|One|Two|Both|Also|And|But|So|For|With|Use|Keep|Call|Reply|Answer|Log|Region|People)"
)
_USER: Final = re.compile(r"^(?:(?:the )?user|i)(?=\W)", _I)


def read(text: str, speaker: str | None) -> Iterator[Claim]:
    """The claims of an English sentence."""
    body = _LEADS_ALL.sub("", text.strip().rstrip(".!").strip())
    subject, rest, owned = _subject(body, speaker)
    if owned is not None:
        yield from _of_owned(subject, owned)
    if match := _FAVOURITE.search(body):
        yield Claim(subject or USER, f"favourite:{plain(match['k'])}", plain(match["v"]))
    if match := _SCHEDULE.search(owned or _OURS.sub("", body)):
        topic = plain(match["k"]).removeprefix("user's ")
        if topic not in (USER, ""):
            yield Claim(USER, f"schedule:{topic}", plain(match["v"]))
    if match := _PARTED.search(body):
        yield Claim(subject or USER, "relationship", "parted")
        for kin in ("partner", "girlfriend", "boyfriend"):
            yield Claim(subject or USER, kin, plain(match["v"] or ""), holds=False)
    if match := _SOLD.search(body):
        yield Claim(subject or USER, "toward", plain(match["v"] or match["w"]), holds=False, single=False)
    for match in _NO_MORE.finditer(body):
        yield Claim(subject or USER, "toward", plain(match["v"] or match["w"]), holds=False, single=False)
    if match := _MOVED_SHIFT.search(body):
        yield Claim(subject if subject not in ("", USER) else USER, "shift", plain(match["v"]).rstrip("s"))
    if match := _PUT_ON.search(body):
        yield Claim(USER, "medication", plain(match["v"] or match["w"]))
    if rest:
        yield from _of_subject(subject, rest)
    yield from instructions(body)


def _subject(body: str, speaker: str | None) -> tuple[str, str, str | None]:
    """Who it is about, what is said of them, and what of theirs it is about ("wife is called Hanneke")."""
    me = speaker.lower() if speaker else USER
    names = "|".join(re.escape(name) for name in ("the user", "user", speaker or "user"))
    if match := re.match(rf"^(?:{names})['’]s? ", body, _I):
        owned = body[match.end() :]
        kin = _KIN_ONLY.match(owned)
        if kin is None:
            return me, "", owned
        name = re.match(r",? ([A-Z][\w'-]+)(?=\s|,|$)", owned[kin.end() :])
        rest = owned[kin.end() + (name.end() if name else 0) :].lstrip(" ,")
        who = name[1].lower() if name else f"{me}'s {kin['k'].lower()}"
        return who, _verb(rest), owned
    if match := re.match(rf"^(?:{names}):? ", body, _I):
        return me, _verb(body[match.end() :]), None
    if match := re.match(r"^assistant:? ", body, _I):
        return AGENT, _verb(body[match.end() :]), None
    if match := re.match(r"^(I|I'm|Im|We|we|we're|I've) ", body):
        return me, _verb(body[match.end() :]), None
    if match := re.match(
        rf"^(?!{_NO_NAME}\b)([A-Z][\w'-]+(?: [A-Z][\w'-]+){{0,2}})(?: (?=[a-z])|'s (?=now|moving|in|at|a|an|allergic))",
        body,
    ):
        return match[1].lower(), _verb(body[match.end() :]), None
    return "", "", None


def _verb(rest: str) -> str:
    return (
        re.sub(r"^(?:is|are|am|was|has been|have been|'s|we|I) (?=\w)", "", rest)
        if not re.match(r"^is [A-Z]", rest)
        else rest
    )


def _of_owned(subject: str, owned: str) -> Iterator[Claim]:
    if match := _OWNED.match(owned):
        key = plain(match["k"])
        key = {
            "phone number": "phone",
            "mobile": "phone",
            "number": "phone",
            "email address": "email",
            "e-mail": "email",
            "job title": "job",
            "time zone": "timezone",
        }.get(key, key)
        yield Claim(
            subject if key not in _KIN.split("|") else USER,
            key,
            plain(match["v"]),
            single=key not in _KIN.split("|") or key in _ONE_OF,
        )
    elif match := _KIN_NAME.match(owned):
        key = match["k"].lower()
        yield Claim(USER, key, match["n"].lower(), single=key in _ONE_OF)


def _of_subject(subject: str, rest: str) -> Iterator[Claim]:
    if match := _NAME.match(rest):
        yield Claim(subject, "name", plain(match["v"] or match["w"]))
        return
    for attribute, pattern, holds in _OF_SUBJECT:
        if (match := pattern.match(rest)) and not _planned(rest, attribute):
            yield Claim(subject, attribute, plain(match["v"] or ""), holds=holds)
    if _GOT_PET.match(rest):
        yield Claim(subject, "pets", "some")
    if "now " in f"{rest} " and (
        match := re.search(
            r"\bnow (?:\w+ing )?(?:\w+ ){0,3}?(?:at|for|with) (?:an? (?:startup|company|firm) called )?(?P<v>[A-Z][\w&.'-]+(?: [A-Z][\w&.'-]+)*)",
            rest,
        )
    ):
        yield Claim(subject, "employer", plain(match["v"]))
    for holds, pattern in _TOWARD:
        if match := pattern.match(rest):
            yield Claim(subject, "toward", plain(match["v"]), holds=holds, single=False)
            break


_PLANNED: Final = re.compile(
    r"\b(?:will|going to|gonna|plan|plans|planning|want|wants|hope|hopes|hoping|might|may|would|could|thinking)\b",
    _I,
)


def _planned(rest: str, attribute: str) -> bool:
    return (
        attribute in ("home", "employer", "job", "relationship")
        and _PLANNED.search(rest.split(" to ")[0]) is not None
    )
