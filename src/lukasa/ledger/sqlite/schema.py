"""The tables, as migrations. A migration that was released is never edited; a change is a new one.

Rules that hold in every table: keys are integers from one sequence (`ledger.sequence`), given out inside
the write transaction, so a larger id was written later; what the outside sees is `uid` (UUIDv7). Times are
microseconds since 1970 UTC, days are days since 1970-01-01. A *partition* is a row's owner in `scopes`: the
user if one is named, else the agent, the run, the app. A scope belongs to one space, so whatever is keyed by
a scope is keyed by its space first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from lukasa.errors import LedgerCorrupt, LedgerTooNew
from lukasa.text.tokens import ANALYZER

APPLICATION_ID = 0x4C554B41  # "LUKA"

_FIRST = """
CREATE TABLE ledger (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uid TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  analyzer TEXT NOT NULL,               -- what made the postings; another one means: make them anew
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE models (                   -- what made the vectors; two while a new embedder catches up
  slot INTEGER PRIMARY KEY CHECK (slot BETWEEN 0 AND 31),
  name TEXT NOT NULL UNIQUE,
  dim INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'building'))
) STRICT;
CREATE UNIQUE INDEX models_active ON models (state) WHERE state = 'active';

CREATE TABLE spaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE scopes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again: caches are kept by it
  space INTEGER NOT NULL REFERENCES spaces,
  kind TEXT NOT NULL CHECK (kind IN ('user_id', 'agent_id', 'run_id', 'app_id')),
  name TEXT NOT NULL,
  change INTEGER NOT NULL,              -- the sequence number of the last write to it
  epoch INTEGER NOT NULL DEFAULT 0,     -- rows were purged: what was cached of it is of no use
  UNIQUE (space, kind, name)
) STRICT;

CREATE TABLE episodes (                 -- what was said
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  space INTEGER NOT NULL REFERENCES spaces,
  partition INTEGER NOT NULL,
  user_key INTEGER, agent_key INTEGER, run_key INTEGER, app_key INTEGER,
  status TEXT NOT NULL CHECK (status IN ('pending', 'extracted', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  idempotency_key BLOB,                 -- SHA-256 of the caller's key
  request BLOB NOT NULL,                -- SHA-256 of the request: a replay, or a conflict?
  receipt TEXT,                         -- what the call returned, so that a replay answers the same
  recorded_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX episodes_key ON episodes (space, partition, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX episodes_partition ON episodes (partition);
CREATE INDEX episodes_open ON episodes (status, id) WHERE status <> 'extracted';

CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  episode INTEGER NOT NULL REFERENCES episodes ON DELETE CASCADE,
  position INTEGER NOT NULL,
  role TEXT NOT NULL,
  name TEXT,
  text TEXT NOT NULL,
  said_at INTEGER NOT NULL,
  erased INTEGER NOT NULL DEFAULT 0,
  UNIQUE (episode, position)
) STRICT;

CREATE TABLE memories (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  space INTEGER NOT NULL REFERENCES spaces,
  partition INTEGER NOT NULL,
  user_key INTEGER, agent_key INTEGER, run_key INTEGER, app_key INTEGER,
  kind TEXT NOT NULL CHECK (kind IN ('semantic', 'episodic', 'procedural', 'summary')),
  state TEXT NOT NULL CHECK (state IN ('active', 'proposed', 'superseded', 'retracted', 'archived')),
  version INTEGER NOT NULL,             -- the current one (the last one that has a text)
  dedupe_key BLOB NOT NULL,
  pinned INTEGER NOT NULL DEFAULT 0,
  immutable INTEGER NOT NULL DEFAULT 0,
  expires_on INTEGER,
  accesses INTEGER NOT NULL DEFAULT 0,
  accessed_at INTEGER,
  stability REAL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX memories_dedupe ON memories (space, partition, dedupe_key) WHERE state = 'active';
CREATE INDEX memories_user ON memories (user_key, id) WHERE user_key IS NOT NULL;
CREATE INDEX memories_agent ON memories (agent_key, id) WHERE agent_key IS NOT NULL;
CREATE INDEX memories_run ON memories (run_key, id) WHERE run_key IS NOT NULL;
CREATE INDEX memories_app ON memories (app_key, id) WHERE app_key IS NOT NULL;
CREATE INDEX memories_expiry ON memories (partition, expires_on) WHERE expires_on IS NOT NULL;

CREATE TABLE versions (                 -- every event of every memory, never changed but for its end
  id INTEGER PRIMARY KEY,
  memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
  number INTEGER NOT NULL,
  event TEXT NOT NULL,
  text TEXT,                            -- NULL where the event took the text away
  hash TEXT,
  metadata TEXT NOT NULL DEFAULT '{}',
  categories TEXT NOT NULL DEFAULT '[]',
  role TEXT, actor_id TEXT, attributed_to TEXT,
  subject TEXT, attribute TEXT,
  importance REAL, confidence REAL,
  event_from INTEGER, event_to INTEGER, -- when it happened
  valid_from INTEGER, valid_to INTEGER, -- when it held
  recorded_at INTEGER NOT NULL, retired_at INTEGER,  -- when we knew
  reason TEXT, extractor TEXT, model TEXT,
  item INTEGER,                         -- versions of the same text share one
  UNIQUE (memory, number)
) STRICT;

CREATE TABLE sources (
  version INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
  message INTEGER NOT NULL REFERENCES messages,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  trust TEXT NOT NULL CHECK (trust IN ('user', 'agent', 'tool', 'document')),
  PRIMARY KEY (version, message, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX sources_message ON sources (message);

CREATE TABLE links (                    -- many to many: a memory may end several, and be ended by several
  origin INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('supersedes', 'merged_from', 'related')),
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (origin, target, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_target ON links (target);

CREATE TABLE items (                    -- what can be searched: a text, indexed once
  id INTEGER PRIMARY KEY,
  memory INTEGER REFERENCES memories ON DELETE CASCADE,
  partition INTEGER NOT NULL,
  user_key INTEGER, agent_key INTEGER, run_key INTEGER, app_key INTEGER,
  state INTEGER NOT NULL,               -- 1 current, 0 past, -1 gone (no vector, no postings)
  changed INTEGER NOT NULL,             -- sequence number of the write that last touched it
  length INTEGER NOT NULL               -- in terms
) STRICT;
CREATE INDEX items_memory ON items (memory);
CREATE INDEX items_user ON items (user_key, changed) WHERE user_key IS NOT NULL;
CREATE INDEX items_agent ON items (agent_key, changed) WHERE agent_key IS NOT NULL;
CREATE INDEX items_run ON items (run_key, changed) WHERE run_key IS NOT NULL;
CREATE INDEX items_app ON items (app_key, changed) WHERE app_key IS NOT NULL;

-- key = model slot, partition, item in one integer: a partition's vectors lie side by side on disk.
-- (A WITHOUT ROWID table would push each vector to an overflow page of its own.)
CREATE TABLE vectors (key INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;

CREATE TABLE postings (
  partition INTEGER NOT NULL,
  term TEXT NOT NULL,
  item INTEGER NOT NULL,
  tf INTEGER NOT NULL,
  PRIMARY KEY (partition, term, item)
) STRICT, WITHOUT ROWID;
"""

_SECOND = """
ALTER TABLE versions ADD COLUMN partition INTEGER;  -- the memory's, where an attribute is known to find it by
CREATE INDEX versions_attribute ON versions (partition, subject, attribute)
  WHERE partition IS NOT NULL AND retired_at IS NULL;

-- A message that was not kept word for word as a memory can be an item of its own: a turn.
ALTER TABLE items ADD COLUMN message INTEGER REFERENCES messages ON DELETE CASCADE;
CREATE INDEX items_message ON items (message) WHERE message IS NOT NULL;

-- What memories are searched by and what turns are searched by stand apart: neither is slowed by the other.
DROP INDEX items_user;
DROP INDEX items_agent;
DROP INDEX items_run;
DROP INDEX items_app;
CREATE INDEX items_user ON items (user_key, changed) WHERE user_key IS NOT NULL AND message IS NULL;
CREATE INDEX items_agent ON items (agent_key, changed) WHERE agent_key IS NOT NULL AND message IS NULL;
CREATE INDEX items_run ON items (run_key, changed) WHERE run_key IS NOT NULL AND message IS NULL;
CREATE INDEX items_app ON items (app_key, changed) WHERE app_key IS NOT NULL AND message IS NULL;
CREATE INDEX turns_user ON items (user_key, changed) WHERE user_key IS NOT NULL AND message IS NOT NULL;
CREATE INDEX turns_agent ON items (agent_key, changed) WHERE agent_key IS NOT NULL AND message IS NOT NULL;
CREATE INDEX turns_run ON items (run_key, changed) WHERE run_key IS NOT NULL AND message IS NOT NULL;
CREATE INDEX turns_app ON items (app_key, changed) WHERE app_key IS NOT NULL AND message IS NOT NULL;
CREATE TABLE turn_postings (
  partition INTEGER NOT NULL,
  term TEXT NOT NULL,
  item INTEGER NOT NULL,
  tf INTEGER NOT NULL,
  PRIMARY KEY (partition, term, item)
) STRICT, WITHOUT ROWID;

CREATE INDEX episodes_user ON episodes (user_key) WHERE user_key IS NOT NULL;
CREATE INDEX episodes_agent ON episodes (agent_key) WHERE agent_key IS NOT NULL;
CREATE INDEX episodes_run ON episodes (run_key) WHERE run_key IS NOT NULL;
CREATE INDEX episodes_app ON episodes (app_key) WHERE app_key IS NOT NULL;
"""

MIGRATIONS: Sequence[str] = (_FIRST, _SECOND)
VERSION = len(MIGRATIONS)

ITEM_BITS, PARTITION_BITS = 32, 26


def vector_key(slot: int, partition: int, item: int) -> int:
    """The key of an item's vector: 5 bits of slot, 26 of partition, 32 of item."""
    if item >> ITEM_BITS or partition >> PARTITION_BITS:
        raise OverflowError("this ledger is full: more than 2**32 rows or 2**26 scopes")
    return ((slot << PARTITION_BITS) | partition) << ITEM_BITS | item


# The same of item `i`, for the slot that `vector_key(slot, 0, 0)` is bound for.
VECTOR_KEY = f"(? | (i.partition << {ITEM_BITS}) | i.id)"


def migrate(connection: sqlite3.Connection, *, uid: str, now: int, to: int = VERSION) -> None:
    """Bring the file to the newest schema (or to an older one), inside the caller's write transaction.

    Raises `LedgerTooNew` for a file of a newer Lukasa, `LedgerCorrupt` for somebody else's database.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        if found or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            raise LedgerCorrupt("this SQLite file belongs to another program; give another path")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    if found > VERSION:
        raise LedgerTooNew(
            f"written with schema {found}, this Lukasa knows {VERSION}: pip install --upgrade lukasa"
        )
    for number in range(found, to):
        for statement in statements(MIGRATIONS[number]):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number + 1}")
    if found == 0:
        connection.execute("INSERT INTO ledger VALUES (1, ?, 1, ?, ?)", (uid, ANALYZER, now))


def statements(script: str) -> list[str]:
    """The script's statements one by one (`executescript` would commit the caller's transaction)."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found
