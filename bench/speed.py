"""Speed and size of the embedded core: `make bench`. HashEmbedder, so that embedding is excluded, but for the end.

Every figure stands beside what the bare parts cost in the same run, interleaved call by call: the numpy
product with argpartition, the same postings queries, the same rows read and made records of, the same INSERTs.
Bars are those of the project; a missed one is printed as such and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.texts import queries, texts
from lukasa import Memory
from lukasa.ledger.sqlite.connect import connect
from lukasa.ledger.sqlite.rows import RECORD, record
from lukasa.ledger.sqlite.schema import migrate
from lukasa.testing import HashEmbedder
from lukasa.text.tokens import query_words

DIM = 384
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One line of the table; `bar` is what it may be at most."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        return None if self.bar is None else self.value <= self.bar


def quantile(values: list[float], q: float) -> float:
    return float(np.quantile(values, q))


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def fill(path: Path, lines: list[str], *, users: int = 1) -> Memory:
    memory = Memory(path, embedder=HashEmbedder(DIM))
    share = len(lines) // users
    for user in range(users):
        own = lines[user * share : (user + 1) * share]
        for start in range(0, len(own), 1000):
            memory.add(
                [{"role": "user", "content": text} for text in own[start : start + 1000]],
                user_id=f"u{user}",
                infer=False,
            )
    return memory


class Bare:
    """What a search cannot do without: a product over the vectors, postings, twenty rows."""

    def __init__(self, path: Path, user: str) -> None:
        self.connection = connect(path)
        self.partition = self.connection.execute(
            "SELECT id FROM scopes WHERE kind = 'user_id' AND name = ?", (user,)
        ).fetchone()[0]
        rows = self.connection.execute(
            "SELECT key, vector FROM vectors WHERE key BETWEEN ? AND ? ORDER BY key",
            (self.partition << 32, (self.partition + 1) << 32),
        ).fetchall()
        self.items = np.array([key & 0xFFFFFFFF for key, _ in rows])
        self.matrix = np.frombuffer(b"".join(v for _, v in rows), np.float32).reshape(len(rows), -1)

    def search(self, vector: np.ndarray, words: tuple[tuple[str, ...], ...]) -> None:
        product = np.einsum("ij,j->i", self.matrix, vector)  # as the library does: one thread, no spinning
        best = np.argpartition(product, -20)[-20:] if len(product) > 20 else np.arange(len(product))
        for spellings in words:
            marks = ",".join("?" * len(spellings))
            self.connection.execute(
                f"SELECT item, tf FROM postings WHERE partition = ? AND term IN ({marks})",
                (self.partition, *spellings),
            ).fetchall()
        marks = ",".join("?" * len(best))
        rows = self.connection.execute(
            f"SELECT {RECORD} FROM items i CROSS JOIN memories m ON m.id = i.memory"
            f" CROSS JOIN versions v ON v.id = m.version WHERE i.id IN ({marks})",
            self.items[best].tolist(),
        )
        for row in rows.fetchall():
            record(row)


def searching(folder: Path, n: int) -> list[Figure]:
    """One user with *n* memories."""
    path = folder / "search.db"
    memory, embedder = fill(path, texts(n)), HashEmbedder(DIM)
    asked = queries(120)
    bare = Bare(path, "u0")
    vectors = list(asyncio.run(embedder.embed(asked, use="query")))
    words = [query_words(q) for q in asked]
    for query in asked:  # warm: pool, pages, and the queries' vectors, so that embedding is not counted
        memory.search(query, user_id="u0")
    ours, parts = [], []
    for query, vector, terms in zip(asked, vectors, words, strict=True):
        parts.append(timed(lambda v=vector, t=terms: bare.search(v, t)))
        ours.append(timed(lambda q=query: memory.search(q, user_id="u0")))
    memory.close()
    return [
        Figure(f"search, one user, {n:,} memories, p50", quantile(ours, 0.5) * 1e3, "ms"),
        Figure("  bare parts, p50", quantile(parts, 0.5) * 1e3, "ms"),
        Figure("  p50 against the bare parts", quantile(ours, 0.5) / quantile(parts, 0.5), "x", 2),
        Figure("  p95 against the bare parts", quantile(ours, 0.95) / quantile(parts, 0.95), "x", 3),
    ]


def many_users(folder: Path, users: int, each: int) -> list[Figure]:
    """Many users with few memories each; every search another user's, so the pools are cold at first."""
    memory = fill(folder / "users.db", texts(users * each), users=users)
    asked = queries(200)
    cold = [timed(lambda i=i: memory.search(asked[i % 200], user_id=f"u{i}")) for i in range(users)]
    warm = [timed(lambda i=i: memory.search(asked[i % 200], user_id=f"u{i}")) for i in range(users)]
    memory.close()
    return [
        Figure(f"search, {users:,} users x {each}, first of each user, p50", quantile(cold, 0.5) * 1e3, "ms"),
        Figure("  warm, p50", quantile(warm, 0.5) * 1e3, "ms", 860 / 200, "bar: 1/200 of 860 ms"),
        Figure("  warm, p95", quantile(warm, 0.95) * 1e3, "ms"),
    ]


def adding(folder: Path) -> list[Figure]:
    """One message an add, and a thousand."""
    path = folder / "add.db"
    memory = fill(path, texts(2000))
    single = texts(2300)[2000:]
    ones = [timed(lambda t=t: memory.add(t, user_id="u0", infer=False)) for t in single]
    batches = texts(20_000, seed=5)
    whole, bare = [], []
    for start in range(0, 10_000, 1000):
        lot = [{"role": "user", "content": text} for text in batches[start : start + 1000]]
        whole.append(timed(lambda lot=lot, u=start: memory.add(lot, user_id=f"b{u}", infer=False)))
        bare.append(bare_insert(path, folder / f"bare{start}.db", f"b{start}"))
    memory.close()
    return [
        Figure("add, one message, p50", quantile(ones, 0.5) * 1e3, "ms"),
        Figure("  p95", quantile(ones, 0.95) * 1e3, "ms"),
        Figure("add, 1,000 messages in one call, p50", quantile(whole, 0.5) * 1e3, "ms"),
        Figure("  bare executemany of the same rows, p50", quantile(bare, 0.5) * 1e3, "ms"),
        Figure("  against the bare executemany", quantile(whole, 0.5) / quantile(bare, 0.5), "x", 3),
    ]


def bare_insert(source: Path, target: Path, user: str) -> float:
    """Seconds to write the rows of one user's add into an empty file of the same schema, in one commit."""
    reading = connect(source)
    key = reading.execute("SELECT id FROM scopes WHERE name = ?", (user,)).fetchone()[0]
    lots = {
        "episodes": "partition = :key",
        "messages": "episode IN (SELECT id FROM episodes WHERE partition = :key)",
        "memories": "partition = :key",
        "items": "partition = :key",
        "versions": "memory IN (SELECT id FROM memories WHERE partition = :key)",
        "sources": "version IN (SELECT version FROM memories WHERE partition = :key)",
        "vectors": "key BETWEEN :key << 32 AND (:key + 1) << 32",
        "postings": "partition = :key",
    }
    rows = {
        table: reading.execute(f"SELECT * FROM {table} WHERE {where}", {"key": key}).fetchall()
        for table, where in lots.items()
    }
    space = reading.execute("SELECT * FROM spaces").fetchall()
    reading.close()
    writing = connect(target)
    writing.execute("BEGIN IMMEDIATE")
    migrate(writing, uid="bench", now=0)
    writing.executemany("INSERT INTO spaces VALUES (?, ?)", space)
    writing.execute("COMMIT")
    start = time.perf_counter()
    writing.execute("BEGIN IMMEDIATE")
    for table, lot in rows.items():
        writing.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(lot[0]))})", lot)
    writing.execute("COMMIT")
    taken = time.perf_counter() - start
    writing.close()
    return taken


def large(folder: Path, n: int) -> list[Figure]:
    """One user with *n* memories: alternating, opening, memory, disk."""
    path = folder / "large.db"
    memory = fill(path, texts(n))
    more, asked = texts(200, seed=9), queries(60)
    memory.search(asked[0], user_id="u0")
    still = [timed(lambda q=q: memory.search(q, user_id="u0")) for q in asked]
    alternating = []
    for i, query in enumerate(asked):
        memory.add(more[i], user_id="u0", infer=False)
        alternating.append(timed(lambda q=query: memory.search(q, user_id="u0")))
    memory.close()
    size = path.stat().st_size
    child = json.loads(run("large_child", str(path)))
    matrix = n * DIM * 4
    return [
        Figure(f"search, one user, {n:,} memories, p50", quantile(still, 0.5) * 1e3, "ms"),
        Figure("  right after an add, p50 against that", quantile(alternating, 0.5) / quantile(still, 0.5), "x", 1.5,
               "a refill would be tens of times"),
        Figure(f"open, {n:,} memories (first count)", child["open"], "s", 0.3),
        Figure("  first search (fills the pool)", child["first"], "s"),
        Figure("  RSS against the matrix", child["rss"] / matrix, "x", 2),
        Figure("  disk against the vectors' bytes", size / matrix, "x", 2.5),
    ]  # fmt: skip


def large_child(path: str) -> None:
    memory = Memory(path, embedder=HashEmbedder(DIM))
    opened = timed(lambda: memory.count(user_id="u0", filters={"id": "none"}))
    first = timed(lambda: memory.search("where is the blue house", user_id="u0"))
    for query in queries(20):
        memory.search(query, user_id="u0")
    print(json.dumps({"open": opened, "first": first, "rss": peak_rss()}))
    memory.close()


def peak_rss() -> int:
    """Bytes. From /proc where there is one: getrusage also counts what the parent held at the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def importing() -> list[Figure]:
    """CPU seconds of `import lukasa`, a process each."""
    bare = [cpu([sys.executable, "-c", "pass"]) for _ in range(7)]
    ours = [cpu([sys.executable, "-c", "import lukasa"]) for _ in range(7)]
    return [
        Figure("import lukasa, CPU beyond python's own start", max(0.0, quantile(ours, 0.5) - quantile(bare, 0.5)),
               "s", 0.105, "bar: 1/10 of 1.05 s")
    ]  # fmt: skip


def cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def syncs(folder: Path) -> list[Figure]:
    """fsync and fdatasync calls of one add, counted by strace."""
    if shutil.which("strace") is None:
        return [Figure("add, one message, fsyncs", float("nan"), "calls", note="strace is not installed")]
    log = folder / "strace.log"
    subprocess.run(
        ["strace", "-f", "-e", "trace=fsync,fdatasync,write", "-o", str(log), sys.executable, "-m", "bench.speed"]
        + ["--part", "sync_child", str(folder / "sync.db")],
        check=True,
        capture_output=True,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    counts: list[float] = []
    for line in log.read_text().splitlines():
        if "lukasa-bench-mark" in line:
            counts.append(0)
        elif counts and re.search(r"f(data)?sync\(", line):
            counts[-1] += 1
    return [Figure("add, one message, fsyncs, median of 50", quantile(counts[:-1], 0.5), "calls", 1)]


def sync_child(path: str) -> None:
    memory = Memory(path, embedder=HashEmbedder(DIM))
    memory.add("first", user_id="u0", infer=False)
    for text in texts(50):
        os.write(2, b"lukasa-bench-mark")
        memory.add(text, user_id="u0", infer=False)
    os.write(2, b"lukasa-bench-mark")
    memory.close()


def felt(folder: Path) -> list[Figure]:
    """What a person waits for: the default embedder, and the command line."""
    memory = Memory(folder / "real.db")
    lines, asked = texts(60), queries(60)
    start = timed(lambda: memory.add(lines[0], user_id="u0", infer=False))
    adds = [timed(lambda t=t: memory.add(t, user_id="u0", infer=False)) for t in lines[1:]]
    finds = [timed(lambda q=q: memory.search(q, user_id="u0")) for q in asked]
    memory.close()
    command = [
        str(Path(sys.executable).parent / "lukasa"),
        "search",
        "blue house",
        "--path",
        str(folder / "real.db"),
    ]
    cold = [timed(lambda: subprocess.run(command, capture_output=True, check=True)) for _ in range(5)]
    name = memory.aio.house.embedder.model
    return [
        Figure(f"first add with {name} (loads the model)", start, "s"),
        Figure("  add, p50", quantile(adds, 0.5) * 1e3, "ms"),
        Figure("  add, p95", quantile(adds, 0.95) * 1e3, "ms"),
        Figure("  search, p50", quantile(finds, 0.5) * 1e3, "ms"),
        Figure("  search, p95", quantile(finds, 0.95) * 1e3, "ms"),
        Figure("`lukasa search`, cold, p50", quantile(cold, 0.5), "s"),
    ]


def run(part: str, *args: str) -> str:
    """A part in a process of its own."""
    command = [sys.executable, "-m", "bench.speed", "--part", part, *args]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["large_child", "sync_child"], help=argparse.SUPPRESS)
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of everything: for trying the program out"
    )
    parser.add_argument("path", nargs="?", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        {"large_child": large_child, "sync_child": sync_child}[given.part](given.path)
        return 0
    scale = 10 if given.quick else 1
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="lukasa-bench-") as made:
        folder = Path(made)
        for part in (
            importing,
            lambda: searching(folder, 10_000 // scale),
            lambda: many_users(folder, 1000 // scale, 50),
            lambda: adding(folder),
            lambda: syncs(folder),
            lambda: large(folder, 100_000 // scale),
            lambda: felt(folder),
        ):
            for figure in part():
                figures.append(figure)
                bar = "" if figure.bar is None else f"bar {figure.bar:g}  {'met' if figure.met else 'MISSED'}"
                print(
                    f"{figure.name:58} {figure.value:9.3f} {figure.unit:6} {bar:18} {figure.note}", flush=True
                )
    RESULTS.mkdir(exist_ok=True)
    machine = {"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version, "cpus": os.cpu_count()}
    rows = [asdict(figure) | {"met": figure.met} for figure in figures]
    (RESULTS / "speed.json").write_text(json.dumps({"machine": machine, "figures": rows}, indent=1))
    missed = [figure.name.strip() for figure in figures if figure.met is False]
    print(
        f"\nwritten to {RESULTS / 'speed.json'}" + (f"; bars missed: {'; '.join(missed)}" if missed else "")
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
