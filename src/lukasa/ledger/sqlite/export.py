"""A space as JSON lines, whole: every version, source, link and vector, under the same ids.

The first line tells the format and the vectors' model, the last one how much there was: a copy that was
cut off is noticed. Nothing of the file's own numbering is in it.
"""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from lukasa.ledger.base import Exported, View
from lukasa.ledger.sqlite.rows import KEY_COLUMNS, dump, fence, keys_of_view
from lukasa.ledger.sqlite.schema import VECTOR_KEY, VERSION, vector_key
from lukasa.ledger.sqlite.writer import model_in_use

FORMAT: Final = 1
EPISODE_COLUMNS: Final = (
    "uid",
    "status",
    "attempts",
    "error",
    "idempotency_key",
    "request",
    "receipt",
    "recorded_at",
)
MESSAGE_COLUMNS: Final = ("position", "role", "name", "text", "said_at", "erased")
MEMORY_COLUMNS: Final = (
    "uid",
    "kind",
    "state",
    "dedupe_key",
    "pinned",
    "immutable",
    "expires_on",
    "accesses",
    "accessed_at",
    "stability",
    "created_at",
    "updated_at",
)
VERSION_COLUMNS: Final = (
    "number",
    "event",
    "text",
    "hash",
    "metadata",
    "categories",
    "role",
    "actor_id",
    "attributed_to",
    "subject",
    "attribute",
    "importance",
    "confidence",
    "event_from",
    "event_to",
    "valid_from",
    "valid_to",
    "recorded_at",
    "retired_at",
    "reason",
    "extractor",
    "model",
)
Json = dict[str, object]


def export(
    connection: sqlite3.Connection, space: str, view: View, write: Callable[[bytes], None]
) -> Exported:
    """Write every line of what the view's scope names, whatever its state."""
    keys = keys_of_view(connection, space, view)
    model = model_in_use(connection)
    made_by = None if model is None else [model.name, model.dim]
    head = {"lukasa_export": FORMAT, "schema": VERSION, "model": made_by}
    _line(write, head)
    counts = {"episodes": 0, "memories": 0, "links": 0}
    if keys is not None:
        predicate, values = fence(keys)
        for row in connection.execute(f"SELECT m.id FROM episodes m WHERE {predicate} ORDER BY m.id", values):
            _line(write, {"episode": _episode(connection, row[0])})
            counts["episodes"] += 1
        for row in connection.execute(f"SELECT m.id FROM memories m WHERE {predicate} ORDER BY m.id", values):
            _line(write, {"memory": _memory(connection, row[0], 0 if model is None else model.slot)})
            counts["memories"] += 1
        for link in _links(connection, predicate, values):
            _line(write, {"link": link})
            counts["links"] += 1
    _line(write, {"end": counts})
    return Exported(**counts)


def _line(write: Callable[[bytes], None], value: Mapping[str, object]) -> None:
    write(dump(value).encode() + b"\n")


def _named(columns: Sequence[str], row: Sequence[object]) -> Json:
    """A row as an object: what is NULL is left out, bytes are base64."""
    return {
        name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in zip(columns, row, strict=True)
        if value is not None
    }


def _ids(connection: sqlite3.Connection, table: str, number: int) -> Json:
    row = connection.execute(
        f"SELECT {', '.join(f'(SELECT name FROM scopes WHERE id = {c})' for c in KEY_COLUMNS.values())}"
        f" FROM {table} WHERE id = ?",
        (number,),
    ).fetchone()
    return {kind: name for kind, name in zip(KEY_COLUMNS, row, strict=True) if name is not None}


def _episode(connection: sqlite3.Connection, number: int) -> Json:
    row = connection.execute(
        f"SELECT {', '.join(EPISODE_COLUMNS)} FROM episodes WHERE id = ?", (number,)
    ).fetchone()
    messages = connection.execute(
        f"SELECT {', '.join(MESSAGE_COLUMNS)}, (SELECT state FROM items WHERE message = messages.id)"
        " FROM messages WHERE episode = ? ORDER BY position",
        (number,),
    )
    return {
        **_named(EPISODE_COLUMNS, row),
        "ids": _ids(connection, "episodes", number),
        "messages": [_named((*MESSAGE_COLUMNS, "turn"), message) for message in messages],
    }


def _memory(connection: sqlite3.Connection, number: int, slot: int) -> Json:
    row = connection.execute(
        f"SELECT {', '.join(MEMORY_COLUMNS)} FROM memories WHERE id = ?", (number,)
    ).fetchone()
    items = connection.execute(
        f"SELECT i.id, i.state, x.vector FROM items i LEFT JOIN vectors x ON x.key = {VECTOR_KEY}"
        " WHERE i.memory = ? ORDER BY i.id",
        (vector_key(slot, 0, 0), number),
    ).fetchall()
    places = {item[0]: place for place, item in enumerate(items)}
    versions = connection.execute(
        f"SELECT id, item, {', '.join(VERSION_COLUMNS)} FROM versions WHERE memory = ? ORDER BY number",
        (number,),
    ).fetchall()
    (current,) = connection.execute(
        "SELECT number FROM versions WHERE id = (SELECT version FROM memories WHERE id = ?)", (number,)
    ).fetchone()
    return {
        **_named(MEMORY_COLUMNS, row),
        "ids": _ids(connection, "memories", number),
        "current": current,
        "items": [_named(["state", "vector"], item[1:]) for item in items],
        "versions": [
            _named(VERSION_COLUMNS, version[2:])
            | ({} if version[1] is None else {"item": places[version[1]]})
            | {"sources": _sources(connection, version[0])}
            for version in versions
        ],
    }


def _sources(connection: sqlite3.Connection, version: int) -> list[list[object]]:
    rows = connection.execute(
        'SELECT e.uid, g.position, s.start, s."end", s.trust FROM sources s'
        " JOIN messages g ON g.id = s.message JOIN episodes e ON e.id = g.episode"
        " WHERE s.version = ? ORDER BY g.id, s.start",
        (version,),
    )
    return [list(row) for row in rows]


def _links(connection: sqlite3.Connection, predicate: str, values: Sequence[object]) -> Iterable[Json]:
    rows = connection.execute(
        "SELECT m.uid, t.uid, l.kind, l.recorded_at FROM links l JOIN memories m ON m.id = l.origin"
        f" JOIN memories t ON t.id = l.target WHERE {predicate} AND {predicate.replace('m.', 't.')}"
        " ORDER BY m.id, t.id, l.kind",
        (*values, *values),
    )
    for row in rows:
        yield _named(["origin", "target", "kind", "recorded_at"], row)
