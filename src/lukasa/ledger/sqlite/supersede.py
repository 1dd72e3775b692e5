"""A memory's end, where another one replaces it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lukasa.errors import StaleVersion
from lukasa.ledger.sqlite.add import holds_from
from lukasa.ledger.sqlite.revise import Target, target_of
from lukasa.ledger.sqlite.writer import Writer, record_event
from lukasa.types import Fact, Scope, Supersede, Written


@dataclass(frozen=True, slots=True)
class Replaced:
    """What is to end, the fact that ends it, and the id of the memory that says so from now on."""

    change: Supersede
    fact: Fact
    by: str


def supersede(writer: Writer, scope: Scope, replacements: Sequence[Replaced]) -> list[Written]:
    """End each memory, and link it with what replaces it."""
    targets = [target_of(writer, scope, one.change.memory_id, seen=one.change.seen) for one in replacements]
    for target, one in zip(targets, replacements, strict=True):
        if target.state == "superseded":
            raise StaleVersion(f"memory {one.change.memory_id!r} was superseded since; replan")
    ended: dict[str, str] = {}  # by what: several facts may replace one memory, which ends once
    return [_end(writer, target, one, ended) for target, one in zip(targets, replacements, strict=True)]


def _end(writer: Writer, target: Target, one: Replaced, ended: dict[str, str]) -> Written:
    memory_id = one.change.memory_id
    if target.kept or _leads_to(memory_id, one.by, ended):
        return Written(memory_id, "NONE", target.text, role=target.role, actor_id=target.actor_id)
    if memory_id not in ended:
        ended[memory_id] = one.by
        _retire(writer, target, one)
    writer.connection.execute(
        "INSERT INTO links SELECT id, ?, 'supersedes', ? FROM memories WHERE uid = ? ON CONFLICT DO NOTHING",
        (target.memory, writer.now, one.by),
    )
    return Written(memory_id, "SUPERSEDE", target.text, role=target.role, actor_id=target.actor_id, by=one.by)


def _leads_to(memory_id: str, by: str, ended: Mapping[str, str]) -> bool:
    """Whether the replacement is the memory itself, or was ended by it: nothing would be left of either."""
    last: str | None = by
    while last is not None and last != memory_id:
        last = ended.get(last)
    return last is not None


def _retire(writer: Writer, target: Target, one: Replaced) -> None:
    connection, ends = writer.connection, holds_from(writer, one.fact)
    connection.execute("UPDATE versions SET retired_at = ? WHERE id = ?", (writer.now, target.version))
    connection.execute(  # from then on none of its texts holds, whenever it was to end
        "UPDATE versions SET valid_to = max(valid_from, ?) WHERE memory = ? AND text IS NOT NULL"
        " AND (valid_to IS NULL OR valid_to > ?)",
        (ends, target.memory, ends),
    )
    connection.execute(
        "UPDATE memories SET state = 'superseded', updated_at = ? WHERE id = ?", (writer.now, target.memory)
    )
    connection.execute("UPDATE items SET changed = ? WHERE memory = ?", (writer.change, target.memory))
    record_event(writer, target.memory, target.version, "SUPERSEDE", one.change.reason)
    writer.touch(target.keys.ids.values())
