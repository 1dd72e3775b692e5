"""Whose memories a call is about, from the ids that callers give."""

from __future__ import annotations

from typing import cast

from lukasa.errors import ScopeError
from lukasa.types import Scope

_LONGEST = 512


def scope_of(
    *,
    user_id: str | int | None = None,
    agent_id: str | int | None = None,
    run_id: str | int | None = None,
    app_id: str | int | None = None,
) -> Scope:
    """The scope of these ids; an int becomes its digits, an id that is None is not named.

    An id is refused, not repaired: two spellings of one user would be two users.
    """
    return Scope(
        user_id=_id("user_id", user_id),
        agent_id=_id("agent_id", agent_id),
        run_id=_id("run_id", run_id),
        app_id=_id("app_id", app_id),
    )


def _id(name: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ScopeError(f"{name} must be a str or an int, not {type(value).__name__}")
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
