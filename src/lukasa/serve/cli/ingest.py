"""`lukasa ingest`: an archive of messages or memories into the ledger, in one pass and in flat memory.

What is stored at once is stored under a key made of what was said: a run that was killed goes on where it
stopped, a later export brings only what is new, and nothing is stored twice. The texts of a window of entries
are embedded together first, which is where the time goes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from enum import StrEnum
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

from lukasa.archives import detect
from lukasa.archives.base import Conversation, Entry, Kept, Kind, Left, Problem
from lukasa.archives.parts import MOST, parts
from lukasa.errors import InputError, Unsupported
from lukasa.messages.redact import Redactor, redactor
from lukasa.portal import run
from lukasa.serve.cli import output
from lukasa.serve.cli.call import Call, scoped
from lukasa.serve.cli.exits import Code
from lukasa.serve.cli.keep import How, Item, Memo, Ready, episode_of, memo, store, texts_of
from lukasa.serve.cli.tally import Tally
from lukasa.serve.cli.verbs import Verbatim

Keep = Callable[[list[Ready], Tally], None]

_UNITS: Final[dict[Kind, str]] = {
    "jsonl": "lines",
    "chatgpt": "conversations",
    "claude": "conversations",
    "mem0": "entries",
}


class Format(StrEnum):
    """What `--format` takes."""

    AUTO = "auto"
    JSONL = "jsonl"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"


@scoped
def ingest(
    call: Call,
    file: Annotated[
        Path,
        typer.Argument(
            help="JSON lines ('-' is stdin); an export of ChatGPT or Claude, as ZIP, folder or file; a dump "
            "or a folder of mem0's.",
            show_default=False,
        ),
    ],
    form: Annotated[Format, typer.Option("--format", help="What FILE is.")] = Format.AUTO,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be kept; store nothing.")
    ] = False,
    verbatim: Verbatim = False,
    no_embed: Annotated[
        bool,
        typer.Option("--no-embed", help="Store at once, for words to find; `lukasa reembed` embeds later."),
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Bad entries are no failure.")] = False,
) -> None:
    """Remember a file of messages or somebody's archive; run again after a stop, it goes on where it was."""
    archive, how = _archive(file, form), How(infer=not verbatim, embed=not no_embed)
    tally = Tally() if call.json else Tally(tell=output.note)
    try:
        with _progress(archive.size, shown=not call.json and not dry_run) as advance:
            entries = archive.read(advance)
            if dry_run:
                masks = redactor(call.settings().redact)
                show = _count if call.json else _show
                _read(
                    call,
                    archive.kind,
                    entries,
                    tally,
                    masks,
                    lambda window, _: show(window, tally, masks, how),
                )
            else:
                with call.memory(new=True) as memory:
                    aio = memory.aio
                    _read(
                        *(call, archive.kind, entries, tally, aio.house.redactor),
                        keep=lambda window, tally: run(store(aio, window, tally, how)),
                    )
    except KeyboardInterrupt:
        output.note("stopped; the same command goes on from here")
        raise
    _tell(call, archive.kind, tally, dry_run=dry_run)
    if tally.bad and not skip_bad:
        raise typer.Exit(Code.ERROR)


def _archive(file: Path, form: Format) -> detect.Archive:
    kind = None if form is Format.AUTO else form.value
    if str(file) == "-":
        if kind not in (None, "jsonl"):
            raise typer.BadParameter(f"{kind} is read from a file or a folder, not from stdin: name it")
        return detect.lines(sys.stdin.buffer)
    try:
        return detect.archive(file, kind)
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from error


def _read(
    call: Call, kind: Kind, entries: Iterator[Entry], tally: Tally, masks: Redactor, keep: Keep
) -> None:
    """Hand what is read to *keep* by windows of about 64 messages."""
    window, weight = list[Ready](), 0
    for entry in entries:
        match entry:
            case Problem():
                tally.entries += 1
                tally.refuse(entry.where, entry.why)
                continue
            case Left():
                tally.left[entry.what] += entry.count
                continue
            case Conversation():
                tally.entries += 1
            case Kept():
                tally.kept += 1
        try:
            for item in _items(call, kind, entry):
                window.append((item, episode_of(item, masks)))
                weight += len(item.messages) if not isinstance(item, Memo) else 1
                if weight >= MOST:
                    keep(window, tally)
                    window, weight = [], 0
        except (InputError, Unsupported) as error:
            tally.refuse(entry.where, error)
    keep(window, tally)


def _items(call: Call, kind: Kind, entry: Conversation | Kept) -> Iterator[Item]:
    nobody = call.whose()
    if isinstance(entry, Kept):
        yield memo(kind, entry, default=call.ids, nobody=nobody)
    else:
        yield from parts(kind, entry, default=call.ids, nobody=nobody)


def _count(window: list[Ready], tally: Tally, masks: Redactor, how: How) -> None:
    for item, episode in window:
        tally.memories += 1 if isinstance(item, Memo) else len(texts_of(item, episode, masks, how))
        tally.warn(_where(item), episode.warnings)


def _show(window: list[Ready], tally: Tally, masks: Redactor, how: How) -> None:
    _count(window, tally, masks, how)
    for item, episode in window:
        texts = texts_of(item, episode, masks, how)
        output.plain([_where(item), text] for text in (texts[-1:] if isinstance(item, Memo) else texts))


def _where(item: Item) -> str:
    return item.part.where if isinstance(item, Memo) else item.where


def _tell(call: Call, kind: Kind, tally: Tally, *, dry_run: bool) -> None:
    if call.json:
        return output.document(
            {
                "format": kind,
                _UNITS[kind]: tally.entries,
                "kept": tally.kept,
                "memories": tally.memories,
                "superseded": tally.superseded,
                "known": tally.known,
                "revised": tally.revised,
                "bad": tally.bad,
                "problems": tally.problems,
                "notes": tally.notes,
                "left_out": dict(tally.left),
                "dry_run": dry_run,
            }
        )
    verb = "would be stored" if dry_run else "stored"
    read = [f"{tally.entries} {_UNITS[kind]}"] if tally.entries or not tally.kept else []
    read += [f"{tally.kept} memories of {_NAMES[kind]}"] if tally.kept else []
    done = [f"{tally.memories} memories {verb}"]
    done += [f"{tally.superseded} older ones ended"] if tally.superseded else []
    done += [f"{tally.known} known already"] if tally.known else []
    done += [f"{tally.revised} of them changed since"] if tally.revised else []
    done += [f"{tally.bad} bad"] if tally.bad else []
    if tally.left:
        output.note(f"left out: {', '.join(f'{count} {what}' for what, count in tally.left.most_common())}")
    return output.say(f"{', '.join(read)}: {', '.join(done)}")


_NAMES: Final[dict[Kind, str]] = {
    "jsonl": "others",
    "chatgpt": "ChatGPT's",
    "claude": "Claude's",
    "mem0": "mem0's",
}


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
