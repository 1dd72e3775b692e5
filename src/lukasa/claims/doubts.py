"""What of a text's wording decides whether it ends another: denial, addition, change, times, other people."""

from __future__ import annotations

import re
from typing import Final

BOTH: Final = re.compile(
    r"\b(?:also|as well|another|second|part[- ]time|on the side|both|besides|in addition|too)\b"
    r"|除了|也|还(?!是)|還(?!是)|兼|另外一",
    re.IGNORECASE,
)
# Denied, over long ago, for a while, in part: such a fact ends nothing that is a state.
UNSURE: Final = re.compile(
    r"\b(?:never|almost|nearly|once|not (?!(?:\w+ ){1,4}any ?more)|didn't|(?:doesn't|don't)(?!.*any ?more)|at \d|on weekends|at weekends|on \w+days|isn't|wasn't|won't|used to|was|were|as a (?:kid|child|student|teenager)|"
    r"until|this (?:week|weekend|month|summer|afternoon|morning|evening)|for (?:the|a few|two|three|a) (?:weekend|days?|weeks?|nights?|lunch|dinner|drinks|month)|"
    r"during|hotel|hostel|turned it down|but turned|came back|come back|least|today|tonight|if|'d|would|daughter's|son's)\b|差点|没|不会|不想|要不|如果",
    re.IGNORECASE,
)
PARTLY: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|this \w+|after \d|before \d|with \w+|never|machine|at night|late|in the evening|decaf|from|at(?! all)|on (?:\d|\w+day)|buying)\b",
    re.IGNORECASE,
)
CHANGED: Final = re.compile(
    r"\b(?:now|instead|switched|switching|moved|changed|no longer|not .{1,20} anymore|"
    r"from now on|replaced|these days|as of)\b"
    r"|现在|現在|改|换|換|不再|以后|以後|如今",
    re.IGNORECASE,
)
NEGATED: Final = re.compile(
    r"\b(?:not|no|never|without|cannot|can't|doesn't|don't|isn't|won't|nobody|none)\b|不|没|沒|别|別|戒|未",
    re.IGNORECASE,
)
AGAIN: Final = re.compile(r"\b(?:again|back to|now|these days|started)\b|又|重新|开始|改", re.IGNORECASE)


# "Zed instead of Vim", "not the 0148 one", "尾号8823那个不用了": what is named here is over.
PAST_THING: Final = re.compile(
    r"\b(?:instead of|moved (?:on|off|away) from|switched (?:away )?from|ditched)"
    r"\s+(?:the |my |their |using )?(?P<a>[\w.+#-]{3,})"
    r"|\bnot (?:the )?(?P<b>[\w-]*\d{3,}[\w-]*)(?: one)?\b|\bmoved off (?P<c>\w{3,})"
    r"|(?P<d>\d{3,})(?:那个|那個)?(?:不用|停用|作废|作廢)"
    r"|(?:唔再係|不再是|不是)\s?(?P<e>[A-Za-z]{3,}|[\u4e00-\u9fff]{2,4})(?:了|喇|啦)"
    r"|(?P<f>[A-Za-z][A-Za-z+#]{1,}|[\u4e00-\u9fff]{2,4})(?:那套|那个|那個)?(?:翻篇|不用了|停了|作废)",
    re.IGNORECASE,
)
# "Instead of" speaks of a habit only with a word like these.
FROM_NOW: Final = re.compile(
    r"\b(?:now|these days|nowadays|from now on|switched|moved|any ?more|no longer|not the)\b|不|翻篇|停|唔",
    re.IGNORECASE,
)
OTHERS_DO: Final = re.compile(
    r"\b(?:colleague|friend|brother|sister|wife|husband|boss|would|'d never|never|took|yesterday|saturday|sunday)\b",
    re.IGNORECASE,
)
OF_OTHERS: Final = re.compile(
    r"\b(?:mother|father|mum|mom|dad|wife|husband|sister|brother|son|daughter|friend|boss|partner)'s\b|妈妈|爸爸|妈|爸|老婆|老公|女儿|儿子|姐姐|哥哥",
    re.IGNORECASE,
)
