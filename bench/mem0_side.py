"""One side of the comparison in bench/mem0.py, in an environment of its own: `mem0_side.py lukasa|mem0 FOLDER`.

Reads an order a line (JSON) from stdin and answers each with a line. FOLDER holds the texts and their
vectors, so that neither side embeds anything while it is measured. Imports nothing of the other side.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

import numpy as np

BATCH = 1000


class Side(Protocol):
    def load(self, user: str, lines: Sequence[str]) -> None: ...
    def add(self, user: str, text: str) -> int: ...
    def search(self, user: str, text: str) -> int: ...
    def close(self) -> None: ...


class Vectors:
    """The vectors of all texts of the run."""

    def __init__(self, folder: Path) -> None:
        self.rows = np.load(folder / "vectors.npy")
        self.at = {text: at for at, text in enumerate(json.loads((folder / "texts.json").read_text()))}

    def __call__(self, text: str) -> np.ndarray:
        return self.rows[self.at[text]]


class Lukasa:
    """The public API throughout; `load` is `add` with many messages a call."""

    def __init__(self, folder: Path, store: str, vectors: Vectors) -> None:
        from lukasa import Memory
        from lukasa.models.embed.base import Calibration

        class Table:
            model = "bench:table"
            calibration = Calibration()

            async def embed(self, texts: Sequence[str], *, use: str) -> np.ndarray:
                return np.stack([vectors(text) for text in texts])

        self.memory = Memory(folder / f"lukasa-{store}.db", embedder=Table())

    def load(self, user: str, lines: Sequence[str]) -> None:
        for some in batches(lines):
            self.memory.add([{"role": "user", "content": text} for text in some], user_id=user, infer=False)

    def add(self, user: str, text: str) -> int:
        return len(self.memory.add(text, user_id=user, infer=False)["results"])

    def search(self, user: str, text: str) -> int:
        return len(self.memory.search(text, user_id=user, top_k=20)["results"])

    def close(self) -> None:
        self.memory.close()


class Mem0:
    """mem0's defaults but for the embedder, and paths of the run's own: local qdrant on disk, no LLM is called."""

    def __init__(self, folder: Path, store: str, vectors: Vectors) -> None:
        from mem0.utils.factory import EmbedderFactory

        from mem0 import Memory

        class Table:
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return vectors(text).tolist()

            def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
                return [vectors(text).tolist() for text in texts]

        # Its configuration accepts only the providers it knows, so the factory is replaced.
        EmbedderFactory.create = staticmethod(lambda *_, **__: Table())
        path = folder / f"mem0-{store}"
        path.mkdir()
        self.memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "collection_name": "mem0",
                        "path": str(path / "qdrant"),
                        "embedding_model_dims": int(vectors.rows.shape[1]),
                    },
                },
                "history_db_path": str(path / "history.db"),
            }
        )
        self.vectors = vectors

    def load(self, user: str, lines: Sequence[str]) -> None:
        """What its `add` stores, put into its vector store in batches: `add` itself would take an hour."""
        for some in batches(lines):
            self.memory.vector_store.insert(
                vectors=[self.vectors(text).tolist() for text in some],
                ids=[str(uuid.uuid4()) for _ in some],
                payloads=[self._payload(user, text) for text in some],
            )

    def _payload(self, user: str, text: str) -> dict[str, str]:
        now = datetime.now(timezone.utc).isoformat()  # noqa: UP017  # the same line on python 3.10
        digest = hashlib.md5(text.encode()).hexdigest()
        return {
            "user_id": user, "role": "user", "data": text, "hash": digest, "text_lemmatized": text.lower(),
            "created_at": now, "updated_at": now,
        }  # fmt: skip

    def add(self, user: str, text: str) -> int:
        return len(self.memory.add(text, user_id=user, infer=False)["results"])

    def search(self, user: str, text: str) -> int:
        return len(self.memory.search(text, filters={"user_id": user}, top_k=20)["results"])

    def close(self) -> None:
        self.memory.close()
        self.memory.vector_store.client.close()


def batches(lines: Sequence[str]) -> Iterable[Sequence[str]]:
    return (lines[start : start + BATCH] for start in range(0, len(lines), BATCH))


def serve(side: str, folder: Path) -> None:
    # What a library prints must not end up among the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    vectors = Vectors(folder)
    stores: dict[str, Side] = {}
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        op, store = order["op"], order["store"]
        if op == "mark":
            os.write(2, b"lukasa-bench-mark")
            answer: object = None
        elif op == "open":
            stores[store] = {"lukasa": Lukasa, "mem0": Mem0}[side](folder, store, vectors)
            answer = None
        elif op == "close":
            answer = stores.pop(store).close()
        else:
            call = getattr(stores[store], op)
            cpu, wall = time.process_time(), time.perf_counter()
            answer = call(*order["args"])
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            answer = {"cpu": cpu, "wall": wall, "answer": answer}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]))
