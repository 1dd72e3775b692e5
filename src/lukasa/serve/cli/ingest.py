"""`lukasa ingest`: a file of messages into the ledger, in one pass and in flat memory.

Each line is an `add` of its own, under a key made of its number and content: a run that was killed goes on
where it stopped, lines may be appended or mended between runs, and nothing is stored twice. The texts of a
window of lines are embedded together first, which is where the time goes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from lukasa.aio import AsyncMemory
from lukasa.config import utc_now
from lukasa.errors import InputError, Unsupported
from lukasa.messages.normalize import normalize
from lukasa.messages.redact import Redactor, redactor
from lukasa.messages.scope import scope_of
from lukasa.portal import run
from lukasa.reconcile.verbatim import verbatim
from lukasa.serve.cli import output
from lukasa.serve.cli.arguments import opened
from lukasa.serve.cli.call import Call, scoped
from lukasa.serve.cli.exits import Code
from lukasa.serve.cli.lines import MOST, Entry, entries
from lukasa.types import Episode

_TOLD: Final = 20  # bad lines and notes are shown up to here, and counted after


@dataclass(slots=True)
class Tally:
    """What became of the lines so far."""

    tell: Callable[[str], None] = lambda _: None
    lines: int = 0
    memories: int = 0
    known: int = 0  # lines, or parts of long ones, that an earlier run had stored
    bad: int = 0
    notes: int = 0
    problems: list[str] = field(default_factory=list[str])

    def refuse(self, line: int, error: Exception) -> None:
        """Count a line that cannot be stored, and tell why."""
        self.bad += 1
        if self.bad <= _TOLD:
            self.problems.append(f"line {line}: {error}")
            self.tell(f"error: line {line}: {error}")

    def warn(self, line: int, warnings: Sequence[str]) -> None:
        """Count what was masked, skipped or left out, and tell the first few."""
        for warning in warnings:
            self.notes += 1
            if self.notes <= _TOLD:
                self.tell(f"note: line {line}: {warning}")


Keep = Callable[[list[tuple[Entry, Episode]], Tally], None]


@scoped
def ingest(
    call: Call,
    file: Annotated[
        Path,
        typer.Argument(help="JSON lines; '-' is stdin.", show_default=False),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and count; store nothing.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Bad lines are no failure.")] = False,
) -> None:
    """Remember a file of messages; run again after a stop, it goes on where it was."""
    tally = Tally() if call.json else Tally(tell=output.note)
    try:
        with opened(file) as stream, _progress(_size(file), shown=not call.json) as advance:
            if dry_run:
                _read(call, stream, tally, advance, redactor(call.settings().redact), _count)
            else:
                with call.memory(new=True) as memory:
                    aio = memory.aio

                    def keep(window: list[tuple[Entry, Episode]], tally: Tally) -> None:
                        run(store(aio, window, tally))

                    _read(call, stream, tally, advance, aio.house.redactor, keep)
    except KeyboardInterrupt:
        output.note("stopped; the same command goes on from here")
        raise
    _tell(call, tally, dry_run=dry_run)
    if tally.bad and not skip_bad:
        raise typer.Exit(Code.ERROR)


def _read(
    call: Call,
    stream: Iterable[bytes],
    tally: Tally,
    advance: Callable[[int], None],
    masks: Redactor,
    keep: Keep,
) -> None:
    """Read the lines of *stream* and hand them to *keep* by windows of about 64 messages."""
    nobody, window, size, weight = call.whose(), list[tuple[Entry, Episode]](), 0, 0
    for number, line in enumerate(stream, 1):
        tally.lines += bool(line.strip())
        size += len(line)
        try:
            for entry in entries(number, line, default=call.ids, nobody=nobody):
                window.append((entry, episode_of(entry, masks)))
                weight += len(entry.messages)
                if weight >= MOST:
                    keep(window, tally)
                    advance(size)
                    window, size, weight = [], 0, 0
        except (InputError, Unsupported) as error:
            tally.refuse(number, error)
    keep(window, tally)
    advance(size)


def episode_of(entry: Entry, masks: Redactor) -> Episode:
    """The episode that *entry* is; raises for what `add` would refuse."""
    return normalize(
        list(entry.messages),
        scope=scope_of(**entry.ids),
        now=utc_now(),
        redactor=masks,
        metadata=entry.metadata,
        timestamp=entry.timestamp,
        expiration_date=entry.expiration_date,
        idempotency_key=entry.key,
    )


def _count(window: list[tuple[Entry, Episode]], tally: Tally) -> None:
    for entry, episode in window:
        tally.memories += len(verbatim(episode))
        tally.warn(entry.line, episode.warnings)


async def store(memory: AsyncMemory, window: list[tuple[Entry, Episode]], tally: Tally) -> None:
    """Add what the ledger does not hold yet: first all vectors at once, then line by line."""
    house = memory.house
    fresh = [pair for pair in window if await house.ledger.replay(pair[1]) is None]
    tally.known += len(window) - len(fresh)
    texts = [fact.text for _, episode in fresh for fact in verbatim(episode)]
    if texts:
        await house.embedder.embed(texts, use="passage")  # the embedder keeps them for the adds below
    for entry, _ in fresh:
        done = await memory.add(
            list(entry.messages),
            metadata=entry.metadata,
            timestamp=entry.timestamp,
            expiration_date=entry.expiration_date,
            idempotency_key=entry.key,
            **entry.ids,
        )
        tally.memories += len(done["results"])
        tally.warn(entry.line, done["warnings"])


def _tell(call: Call, tally: Tally, *, dry_run: bool) -> None:
    if call.json:
        return output.document(
            {
                "lines": tally.lines,
                "memories": tally.memories,
                "known": tally.known,
                "bad": tally.bad,
                "problems": tally.problems,
                "notes": tally.notes,
                "dry_run": dry_run,
            }
        )
    verb = "would be stored" if dry_run else "stored"
    known = f", {tally.known} known already" if tally.known else ""
    bad = f", {tally.bad} bad" if tally.bad else ""
    return output.say(f"{tally.lines} lines: {tally.memories} memories {verb}{known}{bad}")


def _size(file: Path) -> int | None:
    return (file.stat().st_size or None) if file.is_file() else None


@contextmanager
def _progress(size: int | None, *, shown: bool) -> Generator[Callable[[int], None]]:
    """A bar on a terminal's stderr, by bytes; what it yields moves it on."""
    with bar(shown=shown) as progress:
        task = progress.add_task("reading", total=size)

        def advance(read: int) -> None:
            progress.advance(task, read)

        yield advance


def bar(*, shown: bool, counts: bool = False) -> Progress:
    """A progress bar with the time that is left, on stderr; nothing where that is no terminal."""
    screen = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if counts else TaskProgressColumn(),
        TimeRemainingColumn(),
        console=screen,
        disable=not shown or not screen.is_terminal,
        transient=True,
    )
