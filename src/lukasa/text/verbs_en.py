"""English verbs as far as rules need them: which forms are past, and the third person of the present."""

from __future__ import annotations

import re
from typing import Final

# Past forms that do not end in -ed. Forms that are present as well ("put", "read", "cut") are in UNCHANGED.
PAST: Final = frozenset(
    """was were had did went got gave came became began broke brought built bought caught chose drank drew
    drove ate fell felt fought found flew forgot forgave froze grew heard held kept knew laid led left lent lost
    made meant met paid ran rang rode rose said sold sent shook shone shot sang sank sat slept slid spoke spent
    stood stole stuck struck swam swore swept took taught tore told thought threw understood woke wore won wrote
    wed learnt burnt dreamt spilt spoilt dug hung bit hid blew froze withdrew overslept outgrew rebuilt
    undertook overcame showed saw bred fled swung sprang shrank wove woke awoke strove sought bound bent dealt fed""".split()
)
UNCHANGED: Final = frozenset("put cut hit let quit set shut hurt cost read split spread bet beat".split())
MODAL: Final = frozenset(
    """can could will would shall should may might must cannot can't couldn't won't wouldn't shouldn't mustn't
    mightn't shan't cant wont wouldnt couldnt shouldnt gonna gotta ought""".split()
)
_ED_BUT_PRESENT: Final = frozenset(
    "need feed speed breed bleed succeed proceed exceed weed seed embed shed".split()
)
_IRREGULAR: Final = {
    "am": "is",
    "are": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "don't": "does not",
    "dont": "does not",
    "haven't": "has not",
    "havent": "has not",
    "aren't": "is not",
    "ain't": "is not",
    "cant": "can't",
    "wont": "won't",
    "didnt": "didn't",
    "wasnt": "wasn't",
    "couldnt": "couldn't",
    "wouldnt": "wouldn't",
}

# Present forms that people begin a sentence with when they leave out "I", or that follow "and".
BASE: Final = frozenset(
    """love like hate prefer enjoy dislike need want live work study teach play own drive use eat drink speak
    run swim cycle bike walk read write cook bake sing dance paint draw travel commute sleep wake get have keep
    take do go make know think hope plan smoke vape collect volunteer train practise practice garden hike climb
    ski surf fish sail sew knit code program manage lead report meet wear listen watch buy sell rent share
    belong support follow attend visit suffer struggle avoid skip refuse grow raise run coach tutor design build
    fix repair order pay earn save invest vote pray fast meditate stretch lift row""".split()
)
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")


def is_past(verb: str) -> bool:
    """Whether the form is one of the past and of nothing else."""
    return verb in PAST or (verb.endswith("ed") and len(verb) > 3 and verb not in _ED_BUT_PRESENT)


def third_person(verb: str) -> str:
    """The form that follows "she": of a present form; past and modal forms are what they were."""
    known = _IRREGULAR.get(verb)
    if known is not None:
        return known
    if is_past(verb) or verb in MODAL or verb in UNCHANGED or verb in ("is", "has", "does"):
        return verb
    if not verb.isalpha():
        return verb
    if _CONSONANT_Y.search(verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if _SIBILANT.search(verb) or verb.endswith(("ho", "to", "go")) else f"{verb}s"
