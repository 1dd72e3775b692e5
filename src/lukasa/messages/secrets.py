"""What secrets look like: vendors' formats, assigned values, payment cards.

An *assigned* value is masked by these rules, where it follows a name such as password, token, secret or
API key:

- after `=` or in quotes: 4 characters or more, unless it is a placeholder, a variable or a call;
- after `:` without quotes: 4 characters or more without spaces, with a digit or a symbol in them;
- after `is` ("my password is hunter2"): the same; after "secret is" or "token is" it must mix letters and
  digits and have 6 characters or more; after "pin is", 4 to 8 digits, after "cvv", 3 or 4.

A payment card passes Luhn's sum and begins with an issuer's prefix. Ordinary sentences survive: "I forgot my
password", "password: reset", "the secret is to add salt". Everything takes linear time on any text, which is
read as `spelled.py` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from re import Match

from lukasa.messages.spelled import Edit, Spelled

CUSTOM = "custom"
"""The kind of what a caller's own pattern or function masks."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """What one kind of secret looks like. The secret is the group that matched, else the whole match."""

    kind: str
    hints: tuple[str, ...]  # lower case; a text without any of them cannot match
    pattern: str
    accept: Callable[[Match[str]], bool] | None = None


# --- is an assigned value a secret?

_TRAILING = ".,;:!?)]}'\"`”’。，"
_SYMBOLS = frozenset("!@#$%^&*_+=~|?\\")
_NO_VALUES = "none null true false undefined nil empty unknown required optional string password"
_NOT_VALUES = frozenset(_NO_VALUES.split())
_PLACEHOLDER = re.compile(
    r"\$[{(]|\{\{|%\(|your|xxx|\*\*\*|\.\.\.|…|\[redacted|os\.|process\.|env\.|https?://|[.~]?/",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"[0-9]{1,2}-(?:[0-9]{1,3}|char\w*|digit\w*|letter\w*)", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(.*|\[.*)|[A-Za-z_]+(?:\.[A-Za-z_]+)+")


def _plausible(value: str) -> bool:
    core = value.rstrip(_TRAILING)
    return len(core) >= 4 and core.lower() not in _NOT_VALUES and _PLACEHOLDER.match(core) is None


def _looks_random(value: str) -> bool:
    core = value.rstrip(_TRAILING)
    if _AMOUNT.fullmatch(core):  # "8-12 characters"
        return False
    return any(c.isdigit() or c in _SYMBOLS for c in core) or core.count("-") > 1


def _assigned(match: Match[str]) -> bool:
    value, quoted = match["v"], match["q"] or match["s"]
    if quoted is not None:
        return _plausible(quoted)
    if not _plausible(value):
        return False
    return _CODE.fullmatch(value) is None if "=" in match["sep"] else _looks_random(value)


def _spoken(match: Match[str]) -> bool:
    return _plausible(match["v"]) and _looks_random(match["v"])


def _spoken_mixed(match: Match[str]) -> bool:
    core = match["v"].rstrip(_TRAILING)
    return len(core) >= 6 and _plausible(core) and any(map(str.isdigit, core)) and any(map(str.isalpha, core))


def _keylike(match: Match[str]) -> bool:
    core = match["v"].rstrip(_TRAILING)
    return _spoken_mixed(match) and ("_" in core or any(map(str.isupper, core)))


def _foreign(match: Match[str]) -> bool:
    return _plausible(match["v"])


# --- payment cards

_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|(?:6011|65\d\d|64[4-9]\d)\d{12,15}"
    r"|35\d{14,17}|3(?:0[0-5]|[689]\d)\d{11,16}|62\d{14,17}|(?:50|5[6-9]|6[37])\d{14,17}"
)
_CARD = re.compile(
    r"(?<![0-9A-Za-z+])(?<![0-9][.,])"
    r"(?:[0-9]{13,19}|[0-9]{4}(?:[ .\u00a0-][0-9]{4}){3}(?:[ .\u00a0-]?[0-9]{1,3})?|[0-9]{8}[ -][0-9]{8}"
    r"|[0-9]{4}[ .\u00a0-][0-9]{6}[ .\u00a0-][0-9]{4,5}|[0-9]{4}(?:[ -][0-9]{4}){2}[ -][0-9])(?![0-9A-Za-z])"
)
_NOT_DIGIT = re.compile(r"[^0-9]")
_MAYBE_CARD = re.compile(r"[0-9]{4}[ .\u00a0-]?[0-9]{4}[ .\u00a0-]?[0-9]{2}")


def _is_card(number: str) -> bool:
    digits = _NOT_DIGIT.sub("", number)
    if _ISSUERS.fullmatch(digits) is None:
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + position % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _cards(text: str) -> Iterator[Edit]:
    if _MAYBE_CARD.search(text) is None:
        return
    at = 0
    while match := _CARD.search(text, at):
        if _is_card(match[0]):
            yield Edit(match.start(), match.end(), mask_of("card number"))
            at = match.end()
        else:
            at = match.start() + 1  # "order 1234 4111 1111 1111 1111": the card begins later


# --- the table

_BEFORE = r"(?<![A-Za-z0-9_-])"
_WITH_DIGIT = r"(?=[A-Za-z_-]{0,60}[0-9])"
_BARE = r"(?:(?!\[redacted: )[^\s\"'“”<>&;])"
_QUOTED = r"\"(?!\[redacted: )(?P<q>[^\"\n]{4,})\"|'(?!\[redacted: )(?P<s>[^'\n]{4,})'"

# How a secret of each kind is called, where somebody writes or says what it is.
CALLED = {
    "password": r"(?:(?:pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|wachtwoord|contrase[ñn]a)s?"
    r"|mots? de passe|senha|пароль)",
    "api key": r"(?:(?:api|access|account|shared|signing|encryption|private|secret|secret[ _-]?access)"
    r"[ _-]?keys?)",
    "token": "token",
    "secret": r"(?:(?:client|app|consumer)?[ _-]?secret)",
}
# Every run of white space is taken whole (`++`): two that share one would try each way to divide it.
_ABOUT = r"(?:\s++(?:for|to|of|on|at|für|para|de|del|pour)\s++[^\s.,;:!?][^.,;:!?\n]{0,39}?)?"

# "PIN 1234", "my pin 1234": nothing says that it is one, so the words before must.
_OWNERS = ("my", "his", "her", "our", "your", "their", "card", "sim", "bank", "door")
_OWN = "|".join(f"(?<={word} )" for word in _OWNERS)

_LOGIN_WORDS = "passw passphrase passcode pwd kennwort contrase senha пароль wachtw"
_PASSWORD_HINTS = (*_LOGIN_WORDS.split(), "mot de pass", "mots de pass")
_NAMES = (
    ("password", _PASSWORD_HINTS),
    ("api key", ("key",)),
    ("token", ("token",)),
    ("secret", ("secret",)),
)

# OpenAI, Anthropic, OpenRouter; Groq, xAI, Perplexity, Replicate, Tavily, Pinecone, LangSmith, Hugging Face;
# GitHub, GitLab, npm, Slack apps; Stripe and its webhooks, Square, Shopify, DigitalOcean, Databricks, Google;
# Vault, New Relic, Sentry, PostHog, Supabase, Figma, Atlassian, Linear, Notion, Grafana, Docker.
_PREFIXES = r"""
sk-(?:proj-|ant-|or-v1-|svcacct-|admin-)? gsk_ xai- pplx- r8_ tvly- pcsk_ lsv2_(?:pt|sk)_ hf_
gh[pousr]_ github_pat_ gl(?:pat|dt|rt|ptt|oas|soat|cbt|ft|agent)- npm_ xapp-
[srp]k_(?:live|test)_ whsec_ sq0[a-z]{3}- shp(?:at|ca|pa|ss)_ do[opr]_v1_ dapi GOCSPX-
hvs\. NRAK- sntry[su]_ ph[cx]_ sbp_ figd_ ATATT3 lin_api_ ntn_ glsa_ dckr_pat_
"""
_PREFIX_HINTS = """
sk- gsk_ xai- pplx- r8_ tvly- pcsk_ lsv2_ hf_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_
glpat- gldt- glrt- glptt- gloas- glsoat- glcbt- glft- glagent- npm_ xapp-
k_live_ k_test_ whsec_ sq0 shpat_ shpca_ shppa_ shpss_ _v1_ dapi gocspx-
hvs. nrak- sntrys_ sntryu_ phc_ phx_ sbp_ figd_ atatt3 lin_api_ ntn_ glsa_ dckr_pat_
"""
# One word of letters and digits, or words of them with a digit: `sk-learn-pipelines` is no key.
_KEY_TAIL = rf"(?:(?=[A-Za-z0-9]{{20}})|{_WITH_DIGIT})[A-Za-z0-9_-]{{16,}}+(?:\.[A-Za-z0-9_-]++)*+"


def _assignment(name: str) -> str:
    separator = r"(?P<sep>[\"'`]?\s{0,3}(?:=>|:=|=(?!=)|[:：](?!//)|[—–-](?=\s))\s{0,3})"
    return rf"(?i){name}{separator}(?:{_QUOTED}|(?P<v>{_BARE}{{4,}}+))"


def _statement(name: str) -> str:
    said = r"\s++(?:is|was|ist|es|est|è|é|это)(?:\s*+:)?+\s++[\"'“`]?"
    return rf"(?i)(?<![a-z]){name}{_ABOUT}{said}(?P<v>{_BARE}{{4,}}+)"


def _statements(name: str) -> str:
    """Several are said: "my passwords are hunter2 and tiger#77". The mask covers the list."""
    said = r"\s++(?:are|were|sind|son|sont)(?:\s*+:)?+\s++[\"'“`]?"
    random = r"(?=[^\s]{0,60}[0-9!@#$%^&*_+=~|?\\])"
    border = r"(?:(?<=[,;])\s{1,3}|\s{1,3}(?:and|or|und|oder|y|et|&)\s{1,3})"
    value = rf"{random}{_BARE}{{4,}}+"
    return rf"(?i)(?<![a-z]){name}{_ABOUT}{said}(?P<v>{value}(?:{border}{value})*+)"


def _shape(kind: str, hints: Sequence[str], pattern: str) -> _Rule:
    return _Rule(kind, tuple(hints), pattern)


_RULES: tuple[_Rule, ...] = (
    _shape(
        "private key",
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        # cut off before its end
        r"|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{20,}+)++)",
    ),
    _shape("url password", ("://",), r"://[^\s/@:\"'<>]{0,100}:(?P<v>(?!\[redacted: )[^\s/\"'<>]{1,200})@"),
    _shape("api key", _PREFIX_HINTS.split(), rf"{_BEFORE}(?:{'|'.join(_PREFIXES.split())}){_KEY_TAIL}"),
    _shape("api key", ("sg.",), rf"{_BEFORE}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}"),
    _shape("api key", ("aiza",), rf"{_BEFORE}AIza[A-Za-z0-9_-]{{30,}}"),
    _shape(
        "api key",
        ("akia", "asia", "aroa", "aida"),
        r"(?<![A-Za-z0-9])A(?:KIA|SIA|ROA|IDA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    _shape("api key", ("sk",), r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _shape("token", ("xox",), rf"{_BEFORE}xox[a-z](?:-[A-Za-z0-9]{{6,}})+"),
    _shape("token", ("hooks.slack",), r"hooks\.slack\.com/(?P<v>(?:services|workflows)/[A-Za-z0-9/_-]{20,})"),
    _shape("token", ("pypi-",), rf"{_BEFORE}pypi-{_WITH_DIGIT}[A-Za-z0-9_-]{{32,}}"),
    _shape("token", ("ya29.",), rf"{_BEFORE}ya29\.[A-Za-z0-9_-]{{20,}}"),
    _shape("token", (":aa",), r"(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"),
    _shape("token", ("eyj",), rf"{_BEFORE}eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}(?:\.[A-Za-z0-9_-]+)*"),
    _shape(
        "token",
        ("authorization", "bearer"),
        r"(?i)(?:authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3}"
        r"(?P<v>[A-Za-z0-9._~+/=-]{6,})"
        r"|(?<![a-z])bearer\s{1,3}(?P<s>(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{12,}))",
    ),
    *(_Rule(kind, hints, _assignment(CALLED[kind]), _assigned) for kind, hints in _NAMES),
    _Rule("password", _PASSWORD_HINTS, _statement(CALLED["password"]), _spoken),
    _Rule(
        "password",
        _PASSWORD_HINTS,
        rf"(?i){CALLED['password']}(?:\s++is|\s*+[:=])\s*+[\"“](?P<v>[^\"“”\n]{{4,}})[\"”]",
        _foreign,
    ),
    _Rule("password", _PASSWORD_HINTS, _statements(CALLED["password"]), _spoken),
    _Rule("api key", ("key",), _statement(CALLED["api key"]), _spoken_mixed),
    _Rule("token", ("token",), _statement(CALLED["token"]), _spoken_mixed),
    _Rule("secret", ("secret",), _statement(CALLED["secret"]), _spoken_mixed),
    _shape(
        "pin",
        ("pin",),
        rf"(?i)(?:(?<![a-z])pins?(?:[ -](?:code|number)s?)?"
        rf"(?:{_ABOUT}\s++(?:is|was|are|were|ist|es)|\s{{0,3}}[:=])\s{{0,3}}[\"']?"
        rf"|(?:(?<![A-Za-z])(?-i:PIN)|(?:{_OWN})pin|(?<![a-z])pin[ -](?:code|number))\s{{1,3}})"
        r"(?P<v>[0-9]{4,8}(?:(?:,\s{0,3}|\s{1,3}(?:and|or)\s{1,3})[0-9]{4,8})*)(?![0-9-]|\.[0-9])",
    ),
    _shape(
        "cvv",
        ("cvv", "cvc", "security code"),
        rf"(?i)(?<![a-z])(?:(?:cv[vc]2?|security code)(?:[ -](?:code|number))?"
        rf"(?:{_ABOUT}\s++(?:is|was|ist|es)|\s{{0,3}}[:=])|cv[vc]2?)\s{{0,3}}[\"']?"
        r"(?P<v>[0-9]{3,4})(?![0-9a-z%-]|\.[0-9])",
    ),
    _shape(
        "pin",
        ("code",),
        r"(?i)(?<![a-z])(?:alarm|door|gate|entry|safe|lock|garage|building|key ?pad) code"
        r"(?:\s{1,3}is|\s{0,3}[:=])?\s{1,3}(?P<v>[0-9]{3,8})(?![0-9-]|\.[0-9])",
    ),
    # Without "is": only what mixes letters and figures is taken for one.
    _Rule(
        "password",
        _PASSWORD_HINTS,
        rf"(?i)(?<![a-z]){CALLED['password']}\s{{1,3}}(?P<v>{_BARE}{{6,}}+)",
        _spoken_mixed,
    ),
    _Rule(
        "api key",
        ("key",),
        rf"(?i)(?<![a-z])key\s{{1,3}}is\s{{1,3}}[\"'“`]?(?P<v>{_BARE}{{10,}}+)",
        _keylike,
    ),
    _Rule(
        "api key",
        ("key", "token"),
        r"(?i)(?:key|token)\s{0,3}(?:是|为|為|[:：])\s{0,3}[「“\"']?(?P<v>(?:(?!\[redacted: )[!-~]){8,}+)",
        _spoken_mixed,
    ),
    _Rule(
        "password",
        ("密码", "密碼", "口令", "密钥", "密鑰"),
        r"(?:密码|密碼|口令|密钥|密鑰)(?P<v>(?![:=\[])[!-~]{6,}+)",
        _spoken_mixed,
    ),
    _Rule("password", ("pw",), _assignment(r"(?<![a-z])pw"), _assigned),
    _Rule("password", ("pw",), _statement("pw"), _spoken),
    _Rule(
        "password",
        ("密码", "密碼", "口令", "密钥", "密鑰", "パスワード", "비밀번호"),
        (
            r"(?:密码|密碼|口令|密钥|密鑰|パスワード|비밀번호)(?:是|为|為|は|는|은|[:：=]|\s){1,6}[「“\"']?"
            r"(?P<v>(?:(?!\[redacted: )[!-~]){4,}+)"
        ),
        _foreign,
    ),
)


_compiled = cache(re.compile)  # at first use: all of them would be a tenth of `import lukasa`


@cache
def _by_hint() -> Mapping[str, Sequence[_Rule]]:
    """Ordinary text holds none of the hints: these look-ups are all that it costs."""
    hints = dict.fromkeys(hint for rule in _RULES for hint in rule.hints)
    return {hint: tuple(rule for rule in _RULES if hint in rule.hints) for hint in hints}


_KINDS = (
    "api key",
    "card number",
    CUSTOM,
    "cvv",
    "password",
    "pin",
    "private key",
    "secret",
    "token",
    "url password",
)
MASK = re.compile(rf"\[redacted: (?:{'|'.join(_KINDS)})\]")


def mask_of(kind: str) -> str:
    """What stands in the place of a secret."""
    return f"[redacted: {kind}]"


def mask_known(text: str, kinds: list[str]) -> str:
    """*text* with the secrets of this table masked; their kinds are appended to *kinds*."""
    spelled = Spelled.of(text)
    lowered = spelled.read.lower()
    hinted = [hint for hint in _by_hint() if hint in lowered]
    if hinted:
        wanted = {id(rule) for hint in hinted for rule in _by_hint()[hint]}
        for rule in _RULES:
            if id(rule) in wanted:
                edits = list(_edits(rule, spelled.read))
                kinds += [rule.kind] * len(edits)
                spelled = spelled.edited(edits)
    cards = list(_cards(spelled.read))
    kinds += ["card number"] * len(cards)
    return spelled.edited(cards).text


def _edits(rule: _Rule, text: str) -> Iterator[Edit]:
    for match in _compiled(rule.pattern).finditer(text):
        if rule.accept is not None and not rule.accept(match):
            continue
        group = next(
            (name for name, value in match.groupdict().items() if name != "sep" and value is not None), 0
        )
        start, end = match.span(group)
        if rule.accept is not None and group == "v":  # what ends the sentence is not part of the secret
            end = start + len(match["v"].rstrip(_TRAILING))
        yield Edit(start, end, mask_of(rule.kind))
