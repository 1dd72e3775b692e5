"""The command `lukasa`: its commands by name, and what becomes of an error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version as version_of
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lukasa.errors import LukasaError
from lukasa.serve.cli import demo, ingest, upkeep, verbs
from lukasa.serve.cli.exits import Code, code_of


class Face(TyperGroup):
    """Runs a command and ends with one of the codes of `Code`; errors are one line, or JSON, on stderr."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # typer's signature
        windows_expand_args: bool = True,
        **extra: Any,  # pyright: ignore[reportExplicitAny, reportAny]  # typer's signature
    ) -> Any:  # pyright: ignore[reportExplicitAny]
        """Run the command line *args* and exit."""
        words = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in words[: words.index("--") if "--" in words else None]
        try:
            done: object = super().main(words, prog_name, complete_var, False, windows_expand_args, **extra)
            sys.stdout.flush()
        except LukasaError as error:
            _report(error, str(error), as_json)
            done = code_of(error)
        except typer.TyperException as error:  # how the command was written
            message = error.format_message()
            if type(error).__name__ == "NoArgsIsHelpError":
                typer.echo(message, err=True)
            else:
                _report(error, message, as_json)
            done = error.exit_code
        except typer.Abort as error:
            _report(error, "stopped; nothing was changed", as_json)
            done = Code.INTERRUPTED if isinstance(error.__context__, KeyboardInterrupt) else Code.ERROR
        except BrokenPipeError:
            _hang_up()
            done = Code.ERROR
        except OSError as error:
            reason = error.strerror or str(error)
            _report(error, f"{error.filename}: {reason}" if error.filename else reason, as_json)
            done = Code.ERROR
        sys.exit(done if isinstance(done, int) else Code.OK)


def _report(error: Exception, message: str, as_json: bool) -> None:
    if as_json:
        report = {"error": {"type": type(error).__name__, "message": message}}
        typer.echo(json.dumps(report, ensure_ascii=False), err=True)
    else:
        typer.echo(f"error: {message}", err=True)


def _hang_up() -> None:
    # The reader went away (`| head`): the interpreter must not complain when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=Face,
    name="lukasa",
    help="A memory for LLM applications: durable, correctable, explainable.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(version_of("lukasa"))
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[  # its callback answers
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    """A memory for LLM applications: durable, correctable, explainable."""


for _name, _command in {
    "add": verbs.add,
    "search": verbs.search,
    "list": verbs.list_,
    "get": verbs.get,
    "update": verbs.update,
    "delete": verbs.delete,
    "history": verbs.history,
    "why": verbs.why,
    "ingest": ingest.ingest,
    "export": upkeep.export,
    "import": upkeep.import_,
    "stats": upkeep.stats,
    "doctor": upkeep.doctor,
    "reembed": upkeep.reembed,
    "demo": demo.demo,
}.items():
    app.command(_name)(_command)


def main() -> None:
    """What the installed command runs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # memories hold every script, whatever the locale can write
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app(prog_name="lukasa")
