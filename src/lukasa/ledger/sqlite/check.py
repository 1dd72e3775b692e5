"""Proof that a ledger is whole: what the schema alone cannot promise. Findings name ids, never texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lukasa.ledger.base import Checkup, Finding
from lukasa.ledger.sqlite.add import md5
from lukasa.ledger.sqlite.items import KINDS, NO_VECTOR, TEXT, of_kind, postings_of
from lukasa.ledger.sqlite.rows import KEY_COLUMNS
from lukasa.ledger.sqlite.schema import ITEM_BITS, PARTITION_BITS, vector_key
from lukasa.ledger.sqlite.writer import model_in_use
from lukasa.text.tokens import terms

RESTORE = "restore an export, or a copy of the file"
REEMBED = "run `lukasa reembed` with the embedder that the ledger has: it makes anew what is damaged"
REINDEX = "run `lukasa export`, and `lukasa import` into a new file: words are indexed anew"
_MOST: Final = 20  # findings of one kind that are listed

_OWNER = "coalesce({0}.user_key, {0}.agent_key, {0}.run_key, {0}.app_key)"

# Each finds rows that should not be: name, what is wrong with the id that it returns, the table it looks at.
_QUERIES: Final[Sequence[tuple[str, str, str, str]]] = (
    (
        "current version",
        "memory {0} has no current version with a text",
        "SELECT m.uid FROM memories m LEFT JOIN versions v ON v.id = m.version AND v.memory = m.id"
        " WHERE v.text IS NULL",
        "memories",
    ),
    (
        "current version",
        "memory {0} has a newer text than its current version's",
        "SELECT m.uid FROM memories m JOIN versions c ON c.id = m.version WHERE EXISTS (SELECT 1"
        " FROM versions v WHERE v.memory = m.id AND v.text IS NOT NULL AND v.number > c.number)",
        "memories",
    ),
    (
        "version numbers",
        "memory {0} has a gap in its versions",
        "SELECT m.uid FROM memories m JOIN versions v ON v.memory = m.id GROUP BY m.id"
        " HAVING min(v.number) <> 1 OR max(v.number) <> count(*)",
        "memories",
    ),
    (
        "retirement",
        "memory {0} knows two texts at once, or none",
        "SELECT m.uid FROM memories m JOIN versions v ON v.memory = m.id WHERE v.text IS NOT NULL"
        " AND (v.retired_at IS NULL) <> (v.id = m.version AND m.state NOT IN ('retracted', 'superseded'))",
        "versions",
    ),
    (
        "links",
        "memory {0} is superseded, and no event says so",
        "SELECT uid FROM memories WHERE state = 'superseded' AND NOT EXISTS (SELECT 1 FROM versions v"
        " WHERE v.memory = memories.id AND v.event = 'SUPERSEDE')",
        "memories",
    ),
    (
        "links",
        "memory {0} is linked with one of another space",
        "SELECT o.uid FROM links l JOIN memories o ON o.id = l.origin JOIN memories t ON t.id = l.target"
        " WHERE o.space <> t.space",
        "links",
    ),
    (
        "items",
        "memory {0} has nothing by which it could be found",
        "SELECT m.uid FROM memories m JOIN versions v ON v.id = m.version LEFT JOIN items i ON i.id = v.item"
        " AND i.memory = m.id WHERE i.id IS NULL",
        "memories",
    ),
    (
        "items",
        "item {0} of memory {1} is current, past or gone where it should not be",
        "SELECT i.id, m.uid FROM items i JOIN memories m ON m.id = i.memory"
        " JOIN versions v ON v.id = m.version WHERE i.state <> (CASE"
        " WHEN m.state = 'retracted' THEN -1 ELSE v.item IS i.id END)",
        "items",
    ),
    (
        "items",
        "item {0} is of no memory and no message, or of both",
        "SELECT id FROM items WHERE (memory IS NULL) = (message IS NULL)",
        "items",
    ),
    (
        "items",
        "turn {0} is of a message that was erased, or neither to be found nor gone",
        "SELECT i.id FROM items i JOIN messages g ON g.id = i.message"
        " WHERE g.erased OR i.state NOT IN (1, -1)",
        "items",
    ),
    (
        "items",
        "item {0} has no text",
        "SELECT i.id FROM items i WHERE i.memory IS NOT NULL AND NOT EXISTS (SELECT 1 FROM versions v"
        " WHERE v.memory = i.memory AND v.item = i.id AND v.text IS NOT NULL)",
        "items",
    ),
    (
        "json",
        "version {0} has metadata or categories that are not JSON",
        "SELECT id FROM versions WHERE NOT json_valid(metadata) OR NOT json_valid(categories)",
        "versions",
    ),
    (
        "json",
        "episode {0} has a receipt that is not JSON",
        "SELECT uid FROM episodes WHERE receipt IS NOT NULL AND NOT json_valid(receipt)",
        "episodes",
    ),
    (
        "scopes",
        "memory {0} and its item differ in whose they are",
        "SELECT m.uid FROM memories m JOIN items i ON i.memory = m.id WHERE i.partition <> m.partition"
        " OR i.user_key IS NOT m.user_key OR i.agent_key IS NOT m.agent_key OR i.run_key IS NOT m.run_key"
        " OR i.app_key IS NOT m.app_key",
        "items",
    ),
    (
        "scopes",
        "memory {0} is not found by what it speaks of",
        "SELECT m.uid FROM versions v JOIN memories m ON m.id = v.memory"
        " WHERE v.partition IS NOT CASE WHEN v.attribute IS NOT NULL THEN m.partition END",
        "versions",
    ),
    (
        "scopes",
        "turn {0} and its episode differ in whose they are",
        "SELECT i.id FROM items i JOIN messages g ON g.id = i.message JOIN episodes e ON e.id = g.episode"
        " WHERE i.partition <> e.partition"
        + "".join(f" OR i.{column} IS NOT e.{column}" for column in KEY_COLUMNS.values()),
        "items",
    ),
    *(
        (
            "scopes",
            f"{table[:-1].replace('ie', 'y')} {{0}} names a scope that is not there, or of another space",
            f"SELECT t.uid FROM {table} t WHERE t.partition IS NOT {_OWNER.format('t')}"
            + "".join(
                f" OR (t.{column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM scopes s WHERE s.id = t.{column}"
                f" AND s.space = t.space AND s.kind = '{kind}'))"
                for kind, column in KEY_COLUMNS.items()
            ),
            table,
        )
        for table in ("memories", "episodes")
    ),
    *(
        (
            "counters",
            "scope {0} was written to without a word to the caches",
            "SELECT s.id FROM scopes s WHERE s.change <"
            f" (SELECT max(changed) FROM items WHERE {column} = s.id AND message IS {what})",
            "scopes",
        )
        for column in KEY_COLUMNS.values()
        for what in ("NULL", "NOT NULL")
    ),
    *(
        (
            "sequence",
            f"row {{0}} of {table} has a number that the ledger never gave out",
            f"SELECT id FROM {table} WHERE id > (SELECT sequence FROM ledger)",
            table,
        )
        for table in ("episodes", "messages", "memories", "versions", "items")
    ),
    *(
        (
            "sequence",
            f"row {{0}} of {table} changed in a write that the ledger never had",
            f"SELECT id FROM {table} WHERE {column} > (SELECT sequence FROM ledger)",
            table,
        )
        for table, column in (("scopes", "change"), ("items", "changed"))
    ),
    (
        "sources",
        "memory {0} has a source outside its message",
        "SELECT m.uid FROM sources s JOIN versions v ON v.id = s.version JOIN memories m ON m.id = v.memory"
        ' JOIN messages g ON g.id = s.message WHERE g.erased = 0 AND (s.start < 0 OR s."end" < s.start'
        ' OR s."end" > length(g.text))',
        "sources",
    ),
    (
        "sources",
        "memory {0} was taken from what was said, and names no source",
        "SELECT m.uid FROM versions v JOIN memories m ON m.id = v.memory WHERE v.event = 'ADD'"
        " AND v.extractor IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.version = v.id)",
        "versions",
    ),
    (
        "sources",
        "memory {0} has a source that was said in another scope",
        "SELECT m.uid FROM sources s JOIN versions v ON v.id = s.version JOIN memories m ON m.id = v.memory"
        " JOIN messages g ON g.id = s.message JOIN episodes e ON e.id = g.episode WHERE e.space <> m.space"
        + "".join(f" OR (m.{c} IS NOT NULL AND e.{c} IS NOT m.{c})" for c in KEY_COLUMNS.values()),
        "sources",
    ),
)


@dataclass(slots=True)
class _Findings:
    checked: dict[str, int] = field(default_factory=dict[str, int])
    found: list[Finding] = field(default_factory=list[Finding])
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    unembedded: int = 0

    def add(self, check: str, problem: str, remedy: str) -> None:
        self.kinds[check] = self.kinds.get(check, 0) + 1
        if self.kinds[check] <= _MOST:
            self.found.append(Finding(check, problem, remedy))

    def checkup(self) -> Checkup:
        more = [
            Finding(check, f"{count - _MOST} more of this kind", "see above")
            for check, count in self.kinds.items()
            if count > _MOST
        ]
        return Checkup(self.checked, (*self.found, *more), self.unembedded)


def check(connection: sqlite3.Connection, progress: Callable[[str], None] | None = None) -> Checkup:
    """Look at everything, in one snapshot; *progress* hears what is looked at next.

    Where pages of the file itself are damaged, that is all that the answer tells.
    """
    findings = _Findings()
    connection.text_factory = _lenient
    try:
        for name, step in _STEPS:
            if progress is not None:
                progress(name)
            step(connection, findings)
            if "file" in findings.kinds:
                break
    finally:
        connection.text_factory = str
    return findings.checkup()


def _lenient(text: bytes) -> str:
    """What a flipped bit made of a text differs from its hash; it must not end the check-up."""
    return text.decode("utf-8", "replace")


def _file(connection: sqlite3.Connection, findings: _Findings) -> None:
    for (line,) in connection.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            findings.add("file", str(line), RESTORE)
    findings.checked["pages"] = connection.execute("PRAGMA page_count").fetchone()[0]


def _rows(connection: sqlite3.Connection, findings: _Findings) -> None:
    for table, number, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        findings.add(
            "references", f"row {number} of {table} names a row of {parent} that is not there", RESTORE
        )
    for name, problem, query, table in _QUERIES:
        if table not in findings.checked:
            findings.checked[table] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for row in connection.execute(query):
            findings.add(name, problem.format(*row), RESTORE)


def _hashes(connection: sqlite3.Connection, findings: _Findings) -> None:
    for number, text, digest in connection.execute(
        "SELECT id, text, hash FROM versions WHERE text IS NOT NULL"
    ):
        if md5(text) != digest:
            findings.add("hash", f"version {number} has another text than was written", RESTORE)


def _vectors(connection: sqlite3.Connection, findings: _Findings) -> None:
    findings.checked["vectors"] = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    for key, belongs in unsound(connection):
        item = key & (1 << ITEM_BITS) - 1
        problem = f"the vector of item {item} is damaged" if belongs else f"vector {key} belongs to nothing"
        findings.add("vectors", problem, REEMBED)
    model = model_in_use(connection)
    (findings.unembedded,) = connection.execute(
        f"SELECT count(*) FROM items i WHERE i.state >= 0 AND {NO_VECTOR}",
        (vector_key(-1 if model is None else model.slot, 0, 0),),  # no key is negative
    ).fetchone()


def unsound(connection: sqlite3.Connection, key: int | None = None) -> Iterator[tuple[int, bool]]:
    """Keys of vectors (or *key*, if it is one) that should not be as they are.

    With each, whether a live item and a model are there to which it belongs: then it is its numbers that
    are wrong.
    """
    rows = connection.execute(
        "SELECT x.key, x.vector, m.dim, i.id FROM vectors x"
        f" LEFT JOIN models m ON m.slot = x.key >> {ITEM_BITS + PARTITION_BITS}"
        f" LEFT JOIN items i ON i.id = x.key & {(1 << ITEM_BITS) - 1} AND i.state >= 0"
        f" AND i.partition = x.key >> {ITEM_BITS} & {(1 << PARTITION_BITS) - 1}"
        + ("" if key is None else " WHERE x.key = ?"),
        () if key is None else (key,),
    )
    for found, blob, dim, item in rows:
        if dim is None or item is None:
            yield found, False
        elif len(blob) != 4 * dim or not _unit(blob):
            yield found, True


def _unit(blob: bytes) -> bool:
    length = float(np.linalg.norm(np.frombuffer(blob, np.float32).astype(np.float64)))
    return abs(length - 1) < 1e-3  # false for NaN


def _postings(connection: sqlite3.Connection, findings: _Findings) -> None:
    for turns in KINDS:
        table = postings_of(turns=turns)
        findings.checked[table] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        partitions = connection.execute(
            f"SELECT partition FROM {table} UNION SELECT partition FROM items i WHERE {of_kind(turns=turns)}"
        )
        for (partition,) in partitions.fetchall():
            _words(connection, findings, partition, turns=turns)


def _words(connection: sqlite3.Connection, findings: _Findings, partition: int, *, turns: bool) -> None:
    """Postings and lengths are what the analyzer makes of the texts, no more and no less."""
    held: dict[int, dict[str, int]] = {}
    rows = connection.execute(
        f"SELECT item, term, tf FROM {postings_of(turns=turns)} WHERE partition = ?", (partition,)
    )
    for item, term, tf in rows:
        held.setdefault(item, {})[term] = tf
    texts = connection.execute(
        f"SELECT i.id, i.length, coalesce({TEXT}, '') FROM items i"
        f" WHERE i.partition = ? AND i.state >= 0 AND {of_kind(turns=turns)}",
        (partition,),
    )
    for item, length, text in texts:
        wanted = terms(text)
        if held.pop(item, {}) != wanted or length != sum(wanted.values()):
            findings.add("postings", f"item {item} is indexed under other words than its own", REINDEX)
    for item in sorted(held):
        findings.add("postings", f"item {item} is indexed and not there", REINDEX)


_STEPS: Final[Sequence[tuple[str, Callable[[sqlite3.Connection, _Findings], None]]]] = (
    ("the file", _file),
    ("versions, items, scopes, sources", _rows),
    ("texts", _hashes),
    ("vectors", _vectors),
    ("postings", _postings),
)
