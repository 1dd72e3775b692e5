"""What commands read: texts from the command line or stdin, JSON, metadata."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

import typer

Messages: TypeAlias = "str | Mapping[str, object] | Sequence[str | Mapping[str, object]]"


def a_text(given: str | None) -> str:
    """The text on the command line; `-` or none at all: what stdin holds."""
    if given is not None and given != "-":
        return given
    if given is None and sys.stdin.isatty():
        raise typer.BadParameter("give a text, or pipe one in ('-' reads what you type)")
    return _decoded(sys.stdin.buffer.read(), "stdin").removesuffix("\n")


@contextmanager
def opened(file: Path) -> Generator[BinaryIO]:
    """The file's bytes to read; `-` is stdin. A usage error where it cannot be opened."""
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from error
    with stream:
        yield stream


def messages_of(file: Path) -> Messages:
    """The messages that a JSON file holds; `-` is stdin."""
    with opened(file) as stream:
        found = json_of(_decoded(stream.read(), str(file)), what="--messages")
    if not isinstance(found, str | Mapping | list):
        raise typer.BadParameter("--messages holds a message, or a list of them, as JSON")
    return cast("Messages", found)


def filters_of(given: str | None) -> Mapping[str, object] | None:
    """The filter that a JSON text is."""
    return None if given is None else _mapping(given, "--filter")


def metadata_of(given: Sequence[str] | None) -> dict[str, object] | None:
    """Metadata from JSON objects and `key=value` pairs, later ones first; a value of a pair is text."""
    if not given:
        return None
    found: dict[str, object] = {}
    for one in given:
        if one.lstrip().startswith("{"):
            found.update(_mapping(one, "--metadata"))
            continue
        key, equals, value = one.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(f"--metadata is key=value or a JSON object, not {one!r:.60}")
        found[key.strip()] = value
    return found


def json_of(text: str, *, what: str) -> object:
    """The value of a JSON text; a usage error that names the place where it is none."""
    try:
        return cast("object", json.loads(text))
    except ValueError as error:
        raise typer.BadParameter(f"{what} is not JSON: {error}") from error
    except RecursionError as error:
        raise typer.BadParameter(f"{what} is nested too deeply") from error


def _mapping(text: str, what: str) -> Mapping[str, object]:
    found = json_of(text, what=what)
    if not isinstance(found, Mapping):
        raise typer.BadParameter(f'{what} is a JSON object, such as \'{{"topic": "work"}}\'')
    return cast("Mapping[str, object]", found)


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{where} is not UTF-8: {error}") from error
