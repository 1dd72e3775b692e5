"""How well the built-in rules extract: `make bench-extract`, or `python -m bench.extract FILE.jsonl ...`.

Each conversation of a labelled set (bench/extraction/README.md) goes through `Memory.add` in a ledger of its
own that holds the conversation's `known` memories. `rules` is what `bench/extraction/score.py` calls.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from lukasa import Memory
from lukasa.extract.rules.rules import extract
from lukasa.messages.normalize import normalize
from lukasa.messages.redact import redactor
from lukasa.testing import HashEmbedder
from lukasa.types import Scope

HERE = Path(__file__).resolve().parent
SET = HERE / "extraction" / "dev.jsonl"
MORE = (HERE / "extraction" / "more.jsonl",)
RESULTS = HERE / "results" / "extraction.json"
USER = "u"
# (group, column, bar, whether it is a most)
BARS = (
    ("lang en", "recall", 70.0, False),
    ("lang zh", "recall", 60.0, False),
    ("all", "junk", 12.0, True),
    ("all", "invented", 0.0, True),
    ("all", "secret", 0.0, True),
    ("all", "wrong_who", 1.0, True),
    ("all", "left", 100.0, False),
    ("all", "ended", 70.0, False),
)
WANTED_TURNS = 2000


def rules(messages: Sequence[Mapping[str, Any]], said_at: str, known: Sequence[str] = ()) -> dict[str, Any]:
    """Facts that `add` found in *messages*, and which of *known* it ended."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder) / "a.db", embedder=HashEmbedder()) as memory,
    ):
        before = [memory.add(text, user_id=USER, infer=False, timestamp="2020-01-01") for text in known]
        ids = [one["results"][0]["id"] for one in before]
        done = memory.add(list(messages), user_id=USER, timestamp=said_at)
        ended = {one["id"] for one in done["superseded"]}
        facts = [one["memory"] for one in (*done["results"], *done["unchanged"])]
        return {"facts": facts, "superseded": [at for at, one in enumerate(ids) if one in ended]}


def scorer() -> ModuleType:
    """bench/extraction/score.py."""
    spec = importlib.util.spec_from_file_location("score", HERE / "extraction" / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shares(row: Mapping[str, int]) -> dict[str, float]:
    """A group's counts as percentages; what has no whole is left out."""

    def share(part: str, whole: str) -> dict[str, float]:
        return {part: 100 * row[_COUNTS[part]] / row[whole]} if row[whole] else {}

    return {
        **share("recall", "must"),
        **share("junk", "kept"),
        **share("ended", "sup"),
        **share("left", "keep"),
        **share("wrong_who", "kept"),
        "invented": float(row["invented"]),
        "secret": float(row["secret"]),
    }


_COUNTS = {"recall": "hit", "junk": "junk", "ended": "sup_ok", "left": "keep_ok", "wrong_who": "wrong_who"}


def turns_a_second(files: Sequence[Path]) -> tuple[int, int]:
    """How many messages the extractor reads in a CPU second, without ledger and embedder; of how many."""
    masks = redactor(True)
    episodes = [
        normalize(
            item["messages"],
            scope=Scope(user_id=USER),
            now=datetime.now(UTC),
            timestamp=item["said_at"],
            redactor=masks,
        )
        for file in files
        for item in map(json.loads, file.read_text("utf-8").splitlines())
    ]
    turns = sum(len(one.messages) for one in episodes)
    for one in episodes:  # patterns are compiled at first use
        extract(one)
    speeds: list[float] = []
    for _ in range(5):
        began = time.process_time()
        for one in episodes:
            extract(one)
        speeds.append(turns / (time.process_time() - began))
    return round(sorted(speeds)[2]), turns


def unsupported(files: Sequence[Path]) -> list[str]:
    """Facts with a number or a name that neither their conversation nor its date holds."""
    found: list[str] = []
    for file in files:
        for item in map(json.loads, file.read_text("utf-8").splitlines()):
            source = " ".join(str(m["content"]) + " " + str(m.get("name", "")) for m in item["messages"])
            for fact in rules(item["messages"], item["said_at"])["facts"]:
                plain = _DATES.sub(" ", fact)
                words = re.findall(r"\d+(?:[.:]\d+)*|\b[A-Z][a-z]{2,}\b", plain)
                lost = [word for word in words if word.lower() not in source.lower() and word not in _OURS]
                if lost:
                    found.append(f"{item['id']}: {lost} in {fact}")
    return found


_DATES = re.compile(
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day )?\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}"
    r"|(?:January|February|March|April|May|June|July|August|September|October|November|December|spring|summer|autumn|winter) \d{4}|\bin \d{4}\b|\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?"
)
_OURS = frozenset({"User", "Assistant", "From", "The", "His", "Her", "And"})


def main(files: Sequence[Path]) -> int:
    """Print the tables, the bars and the speed; write the figures for the docs; 1 where a bar is missed."""
    figures: list[dict[str, object]] = []
    missed = False
    for file in files:
        score = scorer()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            rows = score.main([str(file), "bench.extract:rules"])
        print(f"{file.name}\n{printed.getvalue()}")
        for group, column, bar, most in BARS:
            value = shares(rows[group]).get(column)
            if value is None:
                continue
            met = value <= bar if most else value >= bar
            missed |= not met and file not in MORE
            unit = "" if column in ("invented", "secret") else "%"
            name = f"{file.name}, {_NAMES.get(group, group)}: {column.replace('_', ' ')}"
            wanted = f"{'at most' if most else 'at least'} {bar:g}{unit}: {'met' if met else 'missed'}"
            figures.append({"name": name, "value": round(value, 1), "unit": unit, "wanted": wanted})
    lost = unsupported([file for file in files if file not in MORE])
    print("\n".join(lost) or "every number and name of a fact stands in its source or follows from its date")
    speed, turns = turns_a_second(files)
    met = speed >= WANTED_TURNS
    figures.append(
        {
            "name": f"messages a CPU second, without embedding ({turns} messages)",
            "value": speed,
            "unit": "",
            "wanted": f"at least {WANTED_TURNS:,}: {'met' if met else 'missed'}",
        }
    )
    for figure in figures:
        print(f"{figure['name']:60} {figure['value']:>8}{figure['unit']:2} {figure['wanted']}")
    if list(files) == [SET, *MORE]:
        RESULTS.parent.mkdir(exist_ok=True)
        machine = {"python": sys.version.split()[0], "cpus": os.cpu_count()}
        RESULTS.write_text(json.dumps({"machine": machine, "figures": figures}, indent=1), "utf-8")
    return int(missed or bool(lost) or not met)


_NAMES = {"lang en": "English", "lang zh": "Chinese", "all": "both"}

if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]] or [SET, *MORE]))
