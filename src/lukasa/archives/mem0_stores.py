"""What lies in a folder of mem0's, and the memories in it: each with its id and its payload."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

from lukasa.archives.base import Advance, Left, Problem
from lukasa.archives.databases import columns, is_database, opened, tables
from lukasa.archives.files import UNREADABLE, Member
from lukasa.archives.pickles import Shell, unpickled
from lukasa.archives.shape import shape_of
from lukasa.archives.stream import elements, pairs
from lukasa.archives.values import list_of, mapping_of, text_of
from lukasa.errors import InputError

What = Literal["history", "qdrant", "chroma", "faiss", "faiss pickle", "dump"]
Row: TypeAlias = "tuple[str, Mapping[str, object]]"
Rows: TypeAlias = "Iterator[Row | Problem | Left]"

_SUFFIXES: Final = frozenset({".db", ".sqlite", ".sqlite3", ".json", ".jsonl", ".pkl"})
_DEEP: Final = 5  # mem0/qdrant/collection/NAME/storage.sqlite
_TELEMETRY: Final = "mem0migrations"
_MOST_PICKLE: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class Store:
    """One file of mem0's."""

    what: What
    path: Path

    @property
    def size(self) -> int:
        """What reading it takes from the disk."""
        return self.path.stat().st_size


def stores(path: Path) -> list[Store]:
    """The files of mem0's at *path*, a file or a folder; what else lies there is passed over."""
    files = sorted(_files(path, _DEEP)) if path.is_dir() else [path]
    return [Store(what, file) for file in files if (what := _what(file)) is not None]


def _files(folder: Path, deep: int) -> Iterator[Path]:
    """What may be a store's, in a folder and the folders in it, but not in all of a disk."""
    for path in folder.iterdir():
        if path.is_dir() and deep and not path.is_symlink() and path.name != _TELEMETRY:
            yield from _files(path, deep - 1)
        elif path.is_file() and path.suffix.lower() in _SUFFIXES:
            yield path


def _what(file: Path) -> What | None:
    if is_database(file):
        with opened(file) as connection:
            there = tables(connection)
        known: Mapping[str, What] = {"history": "history", "points": "qdrant", "embeddings": "chroma"}
        return next((kind for table, kind in known.items() if table in there), None)
    with file.open("rb") as stream:
        if stream.read(1) == b"\x80":
            return "faiss pickle"
    found = shape_of(_member(file))
    if found is None or found.kind != "mem0":
        return None
    return "faiss" if found.key == "docstore" else "dump"


def _member(file: Path) -> Member:
    return Member(file, file.name, file.stat().st_size)


def rows(store: Store, advance: Advance) -> Rows:
    """The memories of one store, as (id, payload)."""
    try:
        match store.what:
            case "qdrant":
                yield from _qdrant(store, advance)
            case "chroma":
                yield from _chroma(store, advance)
            case "faiss":
                with _member(store.path).open(advance) as stream:
                    for key, payload in pairs(stream, "docstore"):
                        yield key, mapping_of(payload)
            case "faiss pickle":
                yield from _pickled(store, advance)
            case "dump":
                yield from _dump(store, advance)
            case "history":
                return
    except (InputError, sqlite3.Error, *UNREADABLE) as error:
        yield Problem(store.path.name, f"{str(error).splitlines()[0]}; nothing behind it can be read")


def _qdrant(store: Store, advance: Advance) -> Rows:
    name = store.path.parent.name  # of the collection
    with opened(store.path) as connection:
        (count,) = connection.execute("SELECT count(*) FROM points").fetchone()
        share = store.size // max(count, 1)
        if _aside(name):
            yield Left("entities that mem0 found in its memories", count)
            return
        for number, (key, blob) in enumerate(
            connection.execute("SELECT id, point FROM points ORDER BY rowid")
        ):
            try:
                point = unpickled(blob) if isinstance(blob, bytes) else None
            except InputError as error:
                yield Problem(f"collection {name}, point {number + 1}", str(error))
            else:
                state = point.state if isinstance(point, Shell) else dict[str, object]()
                yield str(state.get("id") or key), mapping_of(state.get("payload"))
            advance(share)


def _aside(collection: str) -> bool:
    """Whether a collection holds what mem0 found in its memories, and no memories."""
    return collection.endswith(("_entities", "-entities"))


def _chroma(store: Store, advance: Advance) -> Rows:
    with opened(store.path) as connection:
        (count,) = connection.execute("SELECT count(*) FROM embeddings").fetchone()
        share = store.size // max(count, 1)
        yes = "m.bool_value" if "bool_value" in columns(connection, "embedding_metadata") else "NULL"
        found = connection.execute(
            f"SELECT e.embedding_id, c.name, m.key, m.string_value, m.int_value, m.float_value, {yes}"
            " FROM embeddings e JOIN segments s ON s.id = e.segment_id"
            " JOIN collections c ON c.id = s.collection"
            " LEFT JOIN embedding_metadata m ON m.id = e.id ORDER BY e.id"
        )
        aside = 0
        for (key, name), group in groupby(found, key=itemgetter(0, 1)):
            payload = {str(row[2]): _value(row[3:]) for row in group if row[2] is not None}
            if _aside(str(name)):
                aside += 1
            else:
                yield str(key), payload
            advance(share)
        if aside:
            yield Left("entities that mem0 found in its memories", aside)


def _value(row: tuple[object, ...]) -> object:
    text, whole, real, yes = row
    if yes is not None:
        return bool(yes)
    return next((value for value in (text, whole, real) if value is not None), None)


def _pickled(store: Store, advance: Advance) -> Rows:
    if store.size > _MOST_PICKLE:
        raise InputError(
            f"a pickle of {store.size:,} bytes; open it once with mem0 2, which writes it as JSON"
        )
    found = unpickled(store.path.read_bytes())
    advance(store.size)
    if isinstance(found, tuple) and found:  # docstore, index_to_id
        for key, payload in mapping_of(cast("tuple[object, ...]", found)[0]).items():
            yield key, mapping_of(payload)


def _dump(store: Store, advance: Advance) -> Rows:
    member = _member(store.path)
    found = shape_of(member)
    with member.open(advance) as stream:
        for number, value in enumerate(elements(stream, "item" if found is None else found.place), 1):
            yield from _item(mapping_of(value), f"{member.name}, entry {number}")


def _item(given: Mapping[str, object], place: str) -> Rows:
    """An item of `get_all` as (id, payload): what mem0 lifted out of its metadata goes back."""
    if not text_of(given.get("memory")):
        yield Problem(place, "not a memory of mem0: it has no 'memory'")
        return
    lifted = {key: value for key, value in given.items() if key not in ("id", "memory", "metadata")}
    known = {key: value for key, value in lifted.items() if key in _LIFTED}
    for key, value in lifted.items():
        if key not in _LIFTED and key not in _PASSING and value not in (None, "", [], {}):
            yield Left(f"fields {key!r:.40}")
    payload = {**mapping_of(given.get("metadata")), **known, "data": given["memory"]}
    yield text_of(given.get("id")), payload


_LIFTED: Final = frozenset(
    {"user_id", "agent_id", "run_id", "app_id", "actor_id", "role", "attributed_to", "expiration_date"}
    | {"created_at", "updated_at", "categories", "memory_type"}
)
_PASSING: Final = frozenset({"hash", "score", "score_details", "rerank_score", "owner", "immutable", "type"})


def texts_of(value: object) -> tuple[str, ...]:
    """The texts of a list of them; one text is a list of one."""
    return tuple(one for one in map(text_of, list_of(value) or [value]) if one)
