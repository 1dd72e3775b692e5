"""How answers look: tables on a terminal, tab-separated lines elsewhere, JSON where it was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lukasa.results import FoundSource, HistoryItem, MemoryItem

SIGNALS = {
    "score": "final_score",
    "meaning": "semantic_score",
    "words": "keyword_coverage",
    "bm25": "bm25_score",
    "cosine": "cosine",
    "rank": "rank_score",
}
"""The columns of `search --explain` and the numbers that they show."""


def console() -> Console:
    """Standard output. Made at each use: tests and pipes change what it is."""
    return Console(highlight=False)


def document(value: object) -> None:
    """One JSON document on stdout."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def say(text: str) -> None:
    """One line on stdout."""
    typer.echo(text)


def note(text: str) -> None:
    """One line for the person at the terminal: stderr, so that stdout holds answers only."""
    typer.echo(text, err=True)


def rows(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """A table on a terminal; elsewhere a line a row, tabs between, no header."""
    screen = console()
    if screen.is_terminal:
        screen.print(table(columns, lines))
    else:
        plain(lines)


def memories(found: Sequence[MemoryItem], names: Sequence[str] = ()) -> None:
    """Memories, each with its numbers *names*, its time and its id (on a terminal below the text)."""
    screen = console()
    if not screen.is_terminal:
        return plain(
            [one["id"], *scores(one, names), when(one["created_at"]), one["memory"]] for one in found
        )
    made = table([*names, "memory"], [], tight=True)
    for one in found:
        below = f"\n{one['id']} {when(one['created_at'])}"
        made.add_row(*map(Text, scores(one, names)), Text.assemble(one["memory"], (below, "dim")))
    return screen.print(made)


def said(found: Sequence[FoundSource], names: Sequence[str]) -> None:
    """What was said, each with its numbers *names*, when and by whom."""
    lines = [
        [*scores(one, names), when(one["said_at"]), one["name"] or one["role"], one["text"]] for one in found
    ]
    if lines:
        rows([*names, "when", "who", "said"], lines)


def table(columns: Sequence[str], lines: Iterable[Sequence[str]], *, tight: bool = False) -> Table:
    """A table; its cells are shown as they are, never read as markup."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0 if tight else 1, 0, 0))
    for name in columns:
        number = name in SIGNALS or name == "count"
        made.add_column(
            name,
            justify="right" if number else "left",
            no_wrap=number or name in ("id", "when"),
            overflow="fold",
        )
    for line in lines:
        made.add_row(*map(Text, line))
    return made


def plain(lines: Iterable[Sequence[str]]) -> None:
    """A line a row, tabs between."""
    for line in lines:
        typer.echo("\t".join(" ".join(cell.split()) for cell in line))


def scores(hit: MemoryItem | FoundSource, names: Sequence[str]) -> list[str]:
    """A hit's numbers, of the columns *names*."""
    details = hit.get("score_details", {})
    return [f"{details.get(SIGNALS[name], hit.get('score') or 0.0):.3f}" for name in names]


def events(history: Sequence[HistoryItem]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a memory's history."""
    lines = [
        [when(one["updated_at"]), one["event"], one["old_memory"] or "", one["new_memory"] or ""]
        for one in history
    ]
    return ["when", "event", "before", "after"], lines


def details(shown: MemoryItem) -> list[list[str]]:
    """Field and value of everything a memory carries."""
    values = {name: value for name, value in shown.items() if value is not None}
    return [
        [name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]
        for name, value in values.items()
    ]


def when(moment: str | None) -> str:
    """A time to the minute, UTC."""
    return "" if moment is None else moment[:16].replace("T", " ")


def owner(ids: Iterable[tuple[str, object]]) -> str:
    """Whose memories, in words."""
    return ", ".join(f"{kind} {value}" for kind, value in ids)
