"""Names of fields that say that their value is a secret: `api_key`, `dbPass`, `cardNumber`."""

from __future__ import annotations

import re
from typing import Final

from lukasa.messages.secrets import CALLED
from lukasa.messages.spelled import Spelled

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ANY = r"(?:.*[^a-z])?"  # words before
# A pass that one shows is no secret.
_PASSES = ("boarding", "ski", "season", "day", "bus", "train", "hall", "travel")
_SHOWN = "".join(f"(?<!{word}[ _-])" for word in _PASSES)
_FIELD: Final = re.compile(
    rf".*(?:{CALLED['password']}|{CALLED['api key']}|{CALLED['secret']}s?)"
    rf"|{_ANY}(?:(?:access|api|auth|bearer|bot|refresh)[ _-]?)?(?:tokens?|authorization|credentials?|creds)"
    rf"|{_ANY}(?:pins?|cvv2?|cvc2?|otp|pw|security[ _-]?code)"
    rf"|{_ANY}{_SHOWN}(?:(?:db|user|login|mail|smtp|ftp|root|admin|wifi)[ _-]?)?pass"
    rf"|(?:.*(?:session|auth|http|set|login)[ _-]?)?cookies?"
    rf"|{_ANY}(?:card|cc)[ _-]?(?:number|num|no)",
    re.IGNORECASE | re.DOTALL,
)
_COUNTED: Final = re.compile(rf"{_ANY}tokens", re.IGNORECASE | re.DOTALL)  # of a language model


def is_secret(name: str) -> bool:
    """Whether the text in a field of this name is a secret."""
    return _FIELD.fullmatch(_words(name)) is not None


def is_secret_number(name: str) -> bool:
    """The same for a number."""
    words = _words(name)
    return _FIELD.fullmatch(words) is not None and _COUNTED.fullmatch(words) is None


def _words(name: str) -> str:
    return _HUMP.sub("_", Spelled.of(name).read)
