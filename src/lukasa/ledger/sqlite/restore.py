"""What `export` wrote, taken in again: by id, so that a restore may be repeated."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, cast

import numpy as np

from lukasa.errors import InputError
from lukasa.ledger.base import Restored
from lukasa.ledger.sqlite import reembed
from lukasa.ledger.sqlite.add import Rows
from lukasa.ledger.sqlite.export import (
    EPISODE_COLUMNS,
    FORMAT,
    MEMORY_COLUMNS,
    MESSAGE_COLUMNS,
    VERSION_COLUMNS,
    Json,
)
from lukasa.ledger.sqlite.rows import KEY_COLUMNS, Keys, fence
from lukasa.ledger.sqlite.schema import vector_key
from lukasa.ledger.sqlite.writer import Writer, begin, finish, make_keys
from lukasa.text.tokens import terms
from lukasa.types import Scope


@dataclass(slots=True)
class Restoring:
    """A copy that is being read: what its head said, what was found so far."""

    model: tuple[str, int] | None = None
    slot: int = -1
    head: bool = False
    ended: bool = False
    seen: dict[str, int] = field(default_factory=lambda: {"episodes": 0, "memories": 0, "links": 0})
    new: dict[str, int] = field(default_factory=lambda: {"episodes": 0, "memories": 0, "links": 0})
    number: int = 0

    def wrong(self, problem: str) -> InputError:
        """What to raise of the present line."""
        return InputError(f"line {self.number} of the copy: {problem}")


def restore_some(
    connection: sqlite3.Connection,
    lines: Sequence[bytes],
    state: Restoring,
    *,
    space: str,
    now: datetime,
    vectors: bool,
) -> None:
    """Take in some lines, in the caller's transaction; what is there already (by id) is left alone."""
    if state.model is not None:  # the model may have been switched since the last lot
        reembed.refuse_mismatch(connection, state.model[0])
        state.slot = reembed.slot_of(connection, *state.model)
    writer = begin(connection, space, now, "")
    for line in lines:
        state.number += 1
        kind, value = _read(line, state)
        if kind == "lukasa_export":
            _head(connection, state, value, vectors=vectors)
        elif not state.head or state.ended:
            raise state.wrong("not where it belongs; is this one whole export?")
        elif kind == "end":
            state.ended = True
            if value["end"] != state.seen:
                raise state.wrong(f"{value['end']!s:.100} were written, {state.seen} are here")
        else:
            _take(writer, kind, value, state)
    finish(writer)


def _read(line: bytes, state: Restoring) -> tuple[str, Json]:
    try:
        value = cast("object", json.loads(line))
    except (ValueError, RecursionError) as error:
        raise state.wrong("not JSON; is the copy cut off?") from error
    if isinstance(value, dict) and value:
        kind = next(iter(cast("Json", value)))
        if kind in ("lukasa_export", "end", *_TAKERS):
            return kind, cast("Json", value)
    raise state.wrong("not a line that export writes")


def _head(connection: sqlite3.Connection, state: Restoring, value: Json, *, vectors: bool) -> None:
    from lukasa.ledger.sqlite import copied  # brings pydantic, which nothing else here needs

    if state.head or value["lukasa_export"] != FORMAT:
        raise state.wrong(f"this Lukasa reads one export of format {FORMAT}; upgrade for a newer one")
    problem = copied.head_problem(value)
    if problem is not None:
        raise state.wrong(f"not the first line of an export ({problem})")
    state.head = True
    model = cast("tuple[str, int] | None", value.get("model"))
    if vectors and model is not None:
        state.model = (model[0], model[1])
        reembed.refuse_mismatch(connection, state.model[0])
        state.slot = reembed.slot_of(connection, *state.model)


def _take(writer: Writer, kind: str, value: Json, state: Restoring) -> None:
    from lukasa.ledger.sqlite import copied

    problem = copied.problem(kind, value[kind]) if len(value) == 1 else "more than one thing in a line"
    if problem is not None:
        raise state.wrong(f"no {kind} as export writes it ({problem})")
    try:
        made = _TAKERS[kind](writer, cast("Json", value[kind]), state)
    except (ValueError, OverflowError) as error:
        raise state.wrong(f"this {kind} cannot be taken in: {error}") from error
    except sqlite3.IntegrityError as error:
        raise state.wrong(f"this {kind} does not fit what is in the ledger ({error})") from error
    state.seen[_PLURALS[kind]] += 1
    state.new[_PLURALS[kind]] += int(made)


def _keys(writer: Writer, value: Json) -> Keys:
    return make_keys(writer, Scope(**cast("dict[str, str]", value["ids"])))


def _known(writer: Writer, table: str, value: Json) -> bool:
    """Whether the row is here already; one of another space cannot be here as well, and is no success."""
    row = writer.connection.execute(f"SELECT space FROM {table} WHERE uid = ?", (value["uid"],)).fetchone()
    if row is not None and row[0] != writer.space:
        raise ValueError("it is in another space of this file: restore into a file of its own")
    return row is not None


def _values(columns: Sequence[str], value: Json, *, blobs: Sequence[str] = ()) -> list[object]:
    return [
        base64.b64decode(cast("str", value[name])) if name in blobs and name in value else value.get(name)
        for name in columns
    ]


def _insert(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], row: Sequence[object]
) -> None:
    quoted = ", ".join(f'"{name}"' for name in columns)
    connection.execute(f"INSERT INTO {table} ({quoted}) VALUES ({', '.join('?' * len(row))})", row)


def _take_episode(writer: Writer, value: Json, _state: Restoring) -> bool:
    connection = writer.connection
    if _known(writer, "episodes", value):
        return False
    keys, number = _keys(writer, value), writer.number()
    _insert(
        connection,
        "episodes",
        ["id", "space", "partition", *KEY_COLUMNS.values(), *EPISODE_COLUMNS],
        [number, keys.space, keys.partition, *keys.columns]
        + _values(EPISODE_COLUMNS, value, blobs=("idempotency_key", "request")),
    )
    turns = Rows()
    for message in cast("list[Json]", value["messages"]):
        said = writer.number()
        _insert(
            connection,
            "messages",
            ["id", "episode", *MESSAGE_COLUMNS],
            [said, number, *_values(MESSAGE_COLUMNS, message)],
        )
        if "turn" in message:
            _take_turn(writer, turns, said, keys, message)
    turns.insert(connection)
    return True


def _take_turn(writer: Writer, turns: Rows, said: int, keys: Keys, message: Json) -> None:
    """Index a message as it was; its vector is made by `reembed`."""
    text, state = cast("str", message["text"]), message["turn"]
    if state not in (1, -1) or message["erased"] or not text.strip():
        raise ValueError("a turn that could not be found")
    turns.index_turn(writer, said, keys, terms(text), cast("int", state))


def _take_memory(writer: Writer, value: Json, state: Restoring) -> bool:
    connection = writer.connection
    if _known(writer, "memories", value):
        return False
    keys, memory = _keys(writer, value), writer.number()
    versions = cast("list[Json]", value["versions"])
    numbers = {cast("int", version["number"]): writer.number() for version in versions}
    _insert(
        connection,
        "memories",
        ["id", "space", "partition", *KEY_COLUMNS.values(), "version", *MEMORY_COLUMNS],
        [memory, keys.space, keys.partition, *keys.columns, numbers[cast("int", value["current"])]]
        + _values(MEMORY_COLUMNS, value, blobs=("dedupe_key",)),
    )
    items = [_take_item(writer, memory, keys, place, value, state) for place in range(_count(value["items"]))]
    for version in versions:
        number = numbers[cast("int", version["number"])]
        item = None if "item" not in version else items[cast("int", version["item"])]
        _insert(
            connection,
            "versions",
            ["id", "memory", "item", "partition", *VERSION_COLUMNS],
            [number, memory, item, None if version.get("attribute") is None else keys.partition]
            + _values(VERSION_COLUMNS, version),
        )
        for source in cast("list[list[object]]", version["sources"]):
            _take_source(connection, keys, number, source)
    return True


def _count(values: object) -> int:
    return len(cast("list[object]", values))


def _take_item(writer: Writer, memory: int, keys: Keys, place: int, value: Json, state: Restoring) -> int:
    item = writer.number()
    given = cast("list[Json]", value["items"])[place]
    text = next(
        (cast("str", v["text"]) for v in cast("list[Json]", value["versions"]) if v.get("item") == place), ""
    )
    gone = given["state"] == -1
    counts = {} if gone else terms(text)
    writer.connection.execute(
        "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        (item, memory, keys.partition, *keys.columns, given["state"], writer.change)
        + (sum(terms(text).values()),),
    )
    writer.connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?, ?)",
        [(keys.partition, term, item, count) for term, count in sorted(counts.items())],
    )
    if "vector" in given and state.model is not None:
        vector = base64.b64decode(cast("str", given["vector"]))
        if len(vector) != 4 * state.model[1]:
            raise ValueError(f"a vector of {len(vector) // 4} numbers, not {state.model[1]}")
        if not abs(float(np.linalg.norm(np.frombuffer(vector, "<f4").astype(np.float64))) - 1) < 1e-3:
            raise ValueError("a vector that is not of unit length")
        key = vector_key(state.slot, keys.partition, item)
        writer.connection.execute("INSERT INTO vectors VALUES (?, ?)", (key, vector))
    return item


def _take_source(connection: sqlite3.Connection, keys: Keys, version: int, source: Sequence[object]) -> None:
    uid, position, start, end, trust = source
    predicate, values = fence(keys)  # an id of another space or user must not become evidence here
    row = connection.execute(
        "SELECT g.id, g.erased OR ? <= length(g.text) FROM messages g JOIN episodes m ON m.id = g.episode"
        f" WHERE m.uid = ? AND g.position = ? AND {predicate}",
        (end, uid, position, *values),
    ).fetchone()
    if row is None:
        raise ValueError(f"its source, message {position} of episode {uid}, is not in the copy")
    if not row[1]:
        raise ValueError(f"its source ends behind message {position} of episode {uid}")
    _insert(
        connection,
        "sources",
        ["version", "message", "start", "end", "trust"],
        [version, row[0], start, end, trust],
    )


def _take_link(writer: Writer, value: Json, _state: Restoring) -> bool:
    done = writer.connection.execute(
        "INSERT INTO links SELECT o.id, t.id, ?, ? FROM memories o, memories t"
        " WHERE o.uid = ? AND t.uid = ? AND o.space = ? AND t.space = o.space"
        " ON CONFLICT DO NOTHING",
        (value["kind"], value["recorded_at"], value["origin"], value["target"], writer.space),
    )
    ends = writer.connection.execute(
        "SELECT count(*) FROM memories WHERE uid IN (?, ?) AND space = ?",
        (value["origin"], value["target"], writer.space),
    ).fetchone()[0]
    if ends < 2:
        raise ValueError("a memory that it links is not in the copy")
    return done.rowcount > 0


_TAKERS: Final[Mapping[str, Callable[[Writer, Json, Restoring], bool]]] = {
    "episode": _take_episode,
    "memory": _take_memory,
    "link": _take_link,
}
_PLURALS: Final = {"episode": "episodes", "memory": "memories", "link": "links"}


def restored(state: Restoring) -> Restored:
    """What came of it; raises where the copy's last line never came."""
    if not state.ended:
        raise InputError(
            f"the copy ends after line {state.number} without its last line: it was cut off. What was whole "
            "is in the ledger; restoring a whole copy adds the rest"
        )
    skipped = sum(state.seen.values()) - sum(state.new.values())
    return Restored(**state.new, skipped=skipped)
