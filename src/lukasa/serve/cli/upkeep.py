"""Looking after a ledger: copies, numbers, a check-up, another embedder."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lukasa.config import utc_now
from lukasa.ledger.base import View
from lukasa.messages.scope import scope_of
from lukasa.portal import run
from lukasa.serve.cli import output
from lukasa.serve.cli.arguments import opened
from lukasa.serve.cli.call import Call, bare_ledger, placed, scoped
from lukasa.serve.cli.exits import Code
from lukasa.serve.cli.ingest import bar
from lukasa.serve.cli.replacing import refuse_database, replacing

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@scoped
def export(
    call: Call,
    file: Annotated[Path, typer.Argument(help="Where to; '-' is stdout.")] = Path("-"),
) -> None:
    """Write memories with their history and sources as JSON lines; all of the space without ids."""
    scope = scope_of(**call.ids)
    view = View(scope, utc_now().date(), show_expired=True, everyone=not scope)
    if str(file) != "-":
        refuse_database(file, call.settings().file())
    with call.ledger() as ledger, _own_errors():
        if str(file) == "-":
            run(ledger.export(view, _guarded(sys.stdout.buffer.write)))
            return None
        with replacing(file) as write:
            done = run(ledger.export(view, _guarded(write)))
    return _summary(call, done)


class _WriteFailed(Exception):  # not an OSError: the ledger would take it for one of its file's
    pass


def _guarded(write: Callable[[bytes], object]) -> Callable[[bytes], None]:
    def guarded(line: bytes) -> None:
        try:
            write(line)
        except OSError as error:
            raise _WriteFailed from error

    return guarded


@contextmanager
def _own_errors() -> Generator[None]:
    try:
        yield
    except _WriteFailed as error:
        raise error.__cause__ or error  # noqa: B904  # it is the cause


@placed
def import_(
    call: Call,
    file: Annotated[
        Path,
        typer.Argument(
            help="What export wrote; '-' is stdin.",
            show_default=False,
        ),
    ],
    no_vectors: Annotated[
        bool, typer.Option("--no-vectors", help="Leave the vectors to `reembed`: those of another embedder.")
    ] = False,
) -> None:
    """Restore what `export` wrote, ids and history included."""
    settings = call.settings()
    with opened(file) as stream, bare_ledger(settings.file(), settings.tenant()) as ledger:
        done = run(ledger.restore(stream, vectors=not no_vectors))
    _summary(call, done)


@placed
def stats(call: Call) -> None:
    """How much there is, and what it takes."""
    with call.ledger() as ledger:
        done = run(ledger.stats())
    _summary(call, done)


@placed
def doctor(call: Call) -> None:
    """Check everything that can be checked; ends with 4 where something is wrong, and says what mends it."""
    with call.ledger() as ledger:
        checkup = run(ledger.check())
    if call.json:
        output.document(dataclasses.asdict(checkup))
    else:
        output.rows(["checked", "count"], [[name, str(count)] for name, count in checkup.checked.items()])
        found = [[one.check, one.problem, one.remedy] for one in checkup.findings]
        if found:
            output.rows(["check", "problem", "remedy"], found)
        if checkup.unembedded:
            output.note(
                f"{checkup.unembedded} texts have no vector yet, words find them: `lukasa reembed` makes it"
            )
        count = "1 problem" if len(found) == 1 else f"{len(found)} problems"
        output.note(f"{count} found" if found else "all is well")
    if checkup.findings:
        raise typer.Exit(Code.FINDINGS)


@placed
def reembed(
    call: Call,
    batch: Annotated[int, typer.Option(help="Texts embedded at once.", min=1)] = 64,
) -> None:
    """Embed every memory anew with the configured embedder (LUKASA_EMBEDDER), then switch to it."""
    from lukasa.house import make_embedder

    settings = call.settings()
    with call.ledger() as ledger, bar(shown=not call.json, counts=True) as progress:
        task = progress.add_task("embedding", total=None)

        def moved(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        embedder = make_embedder(settings.embedder, settings.embedder_options or {})
        done = run(ledger.reembed(embedder, batch=batch, progress=moved))
    _summary(call, done)


def _summary(call: Call, done: DataclassInstance) -> None:
    values = dataclasses.asdict(done)
    if call.json:
        return output.document(values)
    return output.rows(
        ["what", "value"], [[name.replace("_", " "), _shown(value)] for name, value in values.items()]
    )


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(one)}" for key, one in value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))  # pyright: ignore[reportUnknownArgumentType]
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
