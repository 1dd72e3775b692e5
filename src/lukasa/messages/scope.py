"""Whose memories a call is about, from the ids that callers give."""

from __future__ import annotations

from lukasa.text.ids import an_id
from lukasa.types import Scope


def scope_of(
    *,
    user_id: str | int | None = None,
    agent_id: str | int | None = None,
    run_id: str | int | None = None,
    app_id: str | int | None = None,
) -> Scope:
    """The scope of these ids; an int becomes its digits, an id that is None is not named."""
    return Scope(
        user_id=an_id("user_id", user_id),
        agent_id=an_id("agent_id", agent_id),
        run_id=an_id("run_id", run_id),
        app_id=an_id("app_id", app_id),
    )
