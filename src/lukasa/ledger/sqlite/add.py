"""New rows: an episode with its messages, and memories with all that makes them findable."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import urandom
from typing import TypeAlias

from lukasa.ledger.sqlite.rows import Keys, day_of, days, dump, micros, some_micros, uuid7
from lukasa.ledger.sqlite.schema import vector_key
from lukasa.ledger.sqlite.writer import Writer, make_keys, record_event
from lukasa.types import Add, Episode, Fact, Scope, Written

Terms: TypeAlias = Mapping[str, int]
Analysed: TypeAlias = tuple[Add, Terms]
Row: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Journal:
    """An episode that was just written: its number, its id, and the numbers of its messages by position."""

    episode: int
    uid: str
    messages: tuple[int, ...]
    keys: Keys


def journal(writer: Writer, episode: Episode) -> Journal:
    """Keep what was said."""
    keys = make_keys(writer, episode.scope)
    number, uid = writer.number(), uuid7(writer.now)
    writer.connection.execute(
        "INSERT INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'extracted', 1, NULL, ?, ?, NULL, ?)",
        (number, uid, keys.space, keys.partition, *keys.columns)
        + (episode.idempotency_key, episode.request, writer.now),
    )
    messages = tuple(writer.number() for _ in episode.messages)
    writer.connection.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
        [
            (id_, number, position, said.role, said.name, said.text)
            + (writer.now if said.said_at is None else micros(said.said_at),)
            for position, (id_, said) in enumerate(zip(messages, episode.messages, strict=True))
        ],
    )
    return Journal(number, uid, messages, keys)


def add(writer: Writer, episode: Journal | None, adds: Sequence[Analysed]) -> list[Written]:
    """Store each fact, or name the memory that already says it."""
    rows, written = Rows(), list[Written]()
    keys: dict[Scope, Keys] = {}
    fresh: dict[tuple[int, bytes], str] = {}  # what this call itself has stored
    for change, terms in adds:
        fact = change.fact
        if fact.scope not in keys:
            keys[fact.scope] = make_keys(writer, fact.scope)
            _archive_expired(writer, keys[fact.scope].partition)
        place = keys[fact.scope]
        known = None if fact.dedupe_key is None else _twin(writer, place, fact.dedupe_key, fresh)
        if known is None:
            uid = _new_memory(writer, rows, episode, change, terms, place)
            if fact.dedupe_key is not None:
                fresh[place.partition, fact.dedupe_key] = uid
            written.append(Written(uid, "ADD", fact.text, role=fact.role, actor_id=fact.actor_id))
        else:
            written.append(Written(known, "NONE", fact.text, role=fact.role, actor_id=fact.actor_id))
    rows.insert(writer.connection)
    return written


@dataclass(slots=True)
class Rows:
    """Rows to be written together, a list a table."""

    memories: list[Row] = field(default_factory=list[Row])
    items: list[Row] = field(default_factory=list[Row])
    versions: list[Row] = field(default_factory=list[Row])
    sources: list[Row] = field(default_factory=list[Row])
    vectors: list[Row] = field(default_factory=list[Row])
    postings: list[Row] = field(default_factory=list[Row])
    turn_postings: list[Row] = field(default_factory=list[Row])

    def index(
        self, writer: Writer, item: int, memory: int, keys: Keys, terms: Terms, vector: bytes | None
    ) -> None:
        """Make a memory's text findable, by its words at least."""
        partition, length = keys.partition, sum(terms.values())
        self.items.append((item, memory, partition, *keys.columns, 1, writer.change, length, None))
        if vector is not None:
            self.vectors.append((vector_key(writer.slot_for(vector), partition, item), vector))
        self.postings.extend([(partition, term, item, count) for term, count in terms.items()])

    def index_turn(self, writer: Writer, message: int, keys: Keys, terms: Terms, state: int = 1) -> None:
        """Make a message findable by its words; a vector is made in the background."""
        item, partition, length = writer.number(), keys.partition, sum(terms.values())
        self.items.append((item, None, partition, *keys.columns, state, writer.change, length, message))
        if state >= 0:
            self.turn_postings.extend([(partition, term, item, count) for term, count in terms.items()])

    def insert(self, connection: sqlite3.Connection) -> None:
        """Write them; postings in key order, which keeps neighbours on one page."""
        self.postings.sort()
        self.turn_postings.sort()
        for table in ("memories", "items", "versions", "sources", "vectors", "postings", "turn_postings"):
            rows: list[Row] = getattr(self, table)
            if rows:
                connection.executemany(f"INSERT INTO {table} VALUES ({_marks(rows[0])})", rows)


def _marks(row: Iterable[object]) -> str:
    return ", ".join("?" for _ in row)


def _new_memory(
    writer: Writer, rows: Rows, episode: Journal | None, change: Add, terms: Terms, keys: Keys
) -> str:
    fact, uid = change.fact, uuid7(writer.now)
    memory, version, item = writer.number(), writer.number(), writer.number()
    said = writer.now if fact.said_at is None else micros(fact.said_at)
    expires = None if fact.expires_on is None else days(fact.expires_on)
    rows.memories.append(
        (memory, uid, keys.space, keys.partition, *keys.columns, fact.kind, "active", version)
        + (fact.dedupe_key or urandom(16), 0, 0, expires, 0, None, None, said, said)
    )
    partition = None if fact.attribute is None else keys.partition
    sources = () if episode is None else fact.sources
    extractor = fact.extractor if sources else None  # `doctor` misses the sources of what names one
    rows.versions.append((*_version(writer, fact, memory, version, item, extractor), partition))
    if episode is not None:
        rows.sources.extend(
            (version, episode.messages[source.message], source.start, source.end, source.trust)
            for source in sources
        )
    rows.index(writer, item, memory, keys, terms, change.vector)
    return uid


def _version(writer: Writer, fact: Fact, memory: int, version: int, item: int, extractor: str | None) -> Row:
    return (
        (version, memory, 1, "ADD", fact.text, md5(fact.text), dump(fact.metadata) if fact.metadata else "{}")
        + (dump(fact.categories) if fact.categories else "[]", fact.role, fact.actor_id, fact.attributed_to)
        + (fact.subject, fact.attribute, fact.importance, fact.confidence)
        + (some_micros(fact.event_from), some_micros(fact.event_to))
        + (holds_from(writer, fact), None, writer.now, None, None, extractor, None, item)
    )


def holds_from(writer: Writer, fact: Fact) -> int:
    """Since when a fact is true as far as we know: since it happened, if it was told later."""
    said = writer.now if fact.said_at is None else micros(fact.said_at)
    return said if fact.event_from is None else min(said, micros(fact.event_from))


def md5(text: str) -> str:
    """The hash that mem0 shows of a memory's text."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _twin(
    writer: Writer, keys: Keys, dedupe_key: bytes, fresh: Mapping[tuple[int, bytes], str]
) -> str | None:
    known = fresh.get((keys.partition, dedupe_key))
    if known is not None:
        return known
    row = writer.connection.execute(
        "SELECT uid FROM memories WHERE space = ? AND partition = ? AND dedupe_key = ? AND state = 'active'",
        (keys.space, keys.partition, dedupe_key),
    ).fetchone()
    return None if row is None else row[0]


def _archive_expired(writer: Writer, partition: int) -> None:
    """What has expired leaves `active`, so that the same fact may be stored anew."""
    met = writer.connection.execute(
        "SELECT id, version, user_key, agent_key, run_key, app_key FROM memories"
        " WHERE partition = ? AND expires_on < ? AND state = 'active'",
        (partition, day_of(writer.now)),
    ).fetchall()
    for memory, version, *keys in met:
        writer.touch(keys)
        writer.connection.execute("UPDATE memories SET state = 'archived' WHERE id = ?", (memory,))
        writer.connection.execute("UPDATE items SET changed = ? WHERE memory = ?", (writer.change, memory))
        record_event(writer, memory, version, "EXPIRE", None)
