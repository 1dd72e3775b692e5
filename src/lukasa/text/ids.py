"""What may name whose a memory is."""

from __future__ import annotations

from typing import cast

from lukasa.errors import ScopeError
from lukasa.types import ScopeKind

_LONGEST = 512
_DIGITS = 128  # bits of an int: a UUID's


def an_id(name: ScopeKind, value: object) -> str | None:
    """The id as text, an int as its digits; None where none is named. Raises `ScopeError` for what is none.

    An id is refused, not repaired: two spellings of one user would be two users.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ScopeError(f"{name} must be a str or an int, not {type(value).__name__}")
    if isinstance(value, int) and value.bit_length() > _DIGITS:
        raise ScopeError(f"{name} is an int of more than {_DIGITS} bits; give it as a str")
    text = str(cast(object, value))
    if not text or text.isspace():
        raise ScopeError(f"{name} is blank; leave it out, or give an id")
    if text != text.strip():
        raise ScopeError(f"{name} {text[:60]!r} begins or ends with white space; strip it before the call")
    if any(map(str.isspace, text)):
        raise ScopeError(f"{name} {text[:60]!r} holds white space; use '-' or '_' between its words")
    if len(text) > _LONGEST:
        raise ScopeError(f"{name} has {len(text)} characters; at most {_LONGEST} are accepted")
    if any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in text):
        raise ScopeError(
            f"{name} {text[:60]!r} holds control characters or lone surrogates; use letters and digits"
        )
    return text
