"""A caller's edit of one memory as a change of the ledger."""

from __future__ import annotations

from lukasa.messages.edit import Edit
from lukasa.types import UNSET, Record, Revise


def revise(known: Record, edit: Edit, vector: bytes | None) -> Revise:
    """The change, decided on the version that was read; metadata is merged into what that version has."""
    return Revise(
        memory_id=known.id,
        seen=known.version,
        text=UNSET if edit.text is None else edit.text,
        vector=vector,
        metadata=UNSET if edit.metadata is None else {**known.metadata, **edit.metadata},
        expires_on=edit.expires_on,
        at=edit.at,
    )
