"""Proof that a ledger is whole: what the schema alone cannot promise. Findings name ids, never texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lukasa.ledger.base import Checkup, Finding
from lukasa.ledger.sqlite.add import md5
from lukasa.ledger.sqlite.rows import KEY_COLUMNS
from lukasa.ledger.sqlite.schema import ITEM_BITS, PARTITION_BITS
from lukasa.text.tokens import terms

RESTORE = "restore an export, or a copy of the file"
REEMBED = "run `lukasa reembed`: it makes what is missing"
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
        " AND (v.retired_at IS NULL) <> (v.id = m.version AND m.state <> 'retracted')",
        "versions",
    ),
    (
        "items",
        "memory {0} is not searchable as it should be",
        "SELECT m.uid FROM memories m JOIN versions v ON v.id = m.version LEFT JOIN items i ON i.id = v.item"
        " AND i.memory = m.id WHERE i.state IS NOT (CASE WHEN m.state = 'retracted' THEN -1 ELSE 1 END)",
        "memories",
    ),
    (
        "scopes",
        "memory {0} and its item differ in whose they are",
        "SELECT m.uid FROM memories m JOIN items i ON i.memory = m.id WHERE i.partition <> m.partition"
        " OR i.user_key IS NOT m.user_key OR i.agent_key IS NOT m.agent_key OR i.run_key IS NOT m.run_key"
        " OR i.app_key IS NOT m.app_key",
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
            f" (SELECT max(changed) FROM items WHERE {column} = s.id)",
            "scopes",
        )
        for column in KEY_COLUMNS.values()
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
    (
        "sources",
        "memory {0} has a source outside its message",
        "SELECT m.uid FROM sources s JOIN versions v ON v.id = s.version JOIN memories m ON m.id = v.memory"
        ' JOIN messages g ON g.id = s.message WHERE g.erased = 0 AND (s.start < 0 OR s."end" < s.start'
        ' OR s."end" > length(g.text))',
        "sources",
    ),
)


@dataclass(slots=True)
class _Findings:
    checked: dict[str, int] = field(default_factory=dict[str, int])
    found: list[Finding] = field(default_factory=list[Finding])
    kinds: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, check: str, problem: str, remedy: str) -> None:
        self.kinds[check] = self.kinds.get(check, 0) + 1
        if self.kinds[check] <= _MOST:
            self.found.append(Finding(check, problem, remedy))


def check(connection: sqlite3.Connection) -> Checkup:
    """Look at everything, in one snapshot."""
    findings = _Findings()
    _file(connection, findings)
    for name, problem, query, table in _QUERIES:
        findings.checked[table] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for row in connection.execute(query):
            findings.add(name, problem.format(*row), RESTORE)
    _hashes(connection, findings)
    _vectors(connection, findings)
    _postings(connection, findings)
    return Checkup(findings.checked, tuple(findings.found))


def _file(connection: sqlite3.Connection, findings: _Findings) -> None:
    for (line,) in connection.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            findings.add("file", str(line), RESTORE)
    for table, number, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        findings.add(
            "references", f"row {number} of {table} names a row of {parent} that is not there", RESTORE
        )
    findings.checked["pages"] = connection.execute("PRAGMA page_count").fetchone()[0]


def _hashes(connection: sqlite3.Connection, findings: _Findings) -> None:
    for number, text, digest in connection.execute(
        "SELECT id, text, hash FROM versions WHERE text IS NOT NULL"
    ):
        if md5(text) != digest:
            findings.add("hash", f"version {number} has another text than was written", RESTORE)


def _vectors(connection: sqlite3.Connection, findings: _Findings) -> None:
    active = connection.execute("SELECT slot, dim FROM models WHERE state = 'active'").fetchone()
    live = dict(connection.execute("SELECT id, partition FROM items WHERE state >= 0").fetchall())
    slots = dict(connection.execute("SELECT slot, dim FROM models").fetchall())
    missing = set(live) if active is None or live else set[int]()
    count = 0
    for key, blob in connection.execute("SELECT key, vector FROM vectors"):
        count += 1
        slot, partition = key >> (ITEM_BITS + PARTITION_BITS), key >> ITEM_BITS & (1 << PARTITION_BITS) - 1
        item = key & (1 << ITEM_BITS) - 1
        if slot not in slots or live.get(item) != partition:
            findings.add("vectors", f"vector {key} belongs to nothing", REEMBED)
        elif len(blob) != 4 * slots[slot] or not _unit(blob):
            findings.add("vectors", f"the vector of item {item} is damaged", RESTORE)
        if active is not None and slot == active[0]:
            missing.discard(item)
    for item in sorted(missing):
        findings.add("vectors", f"item {item} has no vector: it is found by words only", REEMBED)
    findings.checked["vectors"] = count


def _unit(blob: bytes) -> bool:
    length = float(np.linalg.norm(np.frombuffer(blob, np.float32).astype(np.float64)))
    return abs(length - 1) < 1e-3  # false for NaN


def _postings(connection: sqlite3.Connection, findings: _Findings) -> None:
    """Postings and lengths are what the analyzer makes of the texts, no more and no less."""
    count = 0
    for partition in [row[0] for row in connection.execute("SELECT DISTINCT partition FROM postings")]:
        held: dict[int, dict[str, int]] = {}
        for item, term, tf in connection.execute(
            "SELECT item, term, tf FROM postings WHERE partition = ?", (partition,)
        ):
            held.setdefault(item, {})[term] = tf
            count += 1
        for item, length, text in _texts(connection, partition):
            wanted = terms(text)
            if held.pop(item, {}) != wanted or length != sum(wanted.values()):
                findings.add("postings", f"item {item} is indexed under other words than its own", RESTORE)
        for item in sorted(held):
            findings.add("postings", f"item {item} is indexed and not there", RESTORE)
    bare = connection.execute(
        "SELECT i.id, v.text FROM items i JOIN versions v ON v.memory = i.memory AND v.item = i.id"
        " WHERE i.state >= 0 AND NOT EXISTS (SELECT 1 FROM postings p WHERE p.partition = i.partition)"
    )
    for item, text in bare.fetchall():
        if terms(text):
            findings.add("postings", f"item {item} is not indexed", RESTORE)
    findings.checked["postings"] = count


def _texts(connection: sqlite3.Connection, partition: int) -> Iterator[tuple[int, int, str]]:
    yield from connection.execute(
        "SELECT i.id, i.length, (SELECT text FROM versions WHERE memory = i.memory AND item = i.id)"
        " FROM items i WHERE i.partition = ? AND i.state >= 0",
        (partition,),
    )
