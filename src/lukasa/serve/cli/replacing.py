"""Writing a file in the place of another one, which stays until the new one is whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import typer

_SQLITE: Final = b"SQLite format 3\0"
_BESIDE: Final = ("", "-wal", "-shm", "-journal")  # the ledger, and what SQLite keeps beside it


def refuse_database(file: Path, ledger: Path) -> None:
    """Raise a usage error where *file* is *ledger* or belongs to it, or is a database at all."""
    for suffix in _BESIDE:
        own = ledger.with_name(ledger.name + suffix)
        if os.path.realpath(file) == os.path.realpath(own) or (
            file.exists() and own.exists() and file.samefile(own)
        ):
            raise typer.BadParameter(f"{file} belongs to the ledger itself: write the copy to another file")
    if not file.is_file():
        return
    owner = next((file.name.removesuffix(one) for one in _BESIDE[1:] if file.name.endswith(one)), file.name)
    if _is_database(file) or _is_database(file.with_name(owner)):
        raise typer.BadParameter(f"{file} is a SQLite database: write the copy to another file")


def _is_database(file: Path) -> bool:
    # Not the ledger: to close any descriptor of a file drops SQLite's locks on it.
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(len(_SQLITE)) == _SQLITE


@contextmanager
def replacing(file: Path) -> Generator[Callable[[bytes], object]]:
    """A new file in the place of *file*, once it is whole; readable by its owner alone."""
    if file.exists() and not file.is_file():  # a device or a pipe: written to, not replaced
        with _opened(file) as stream:
            yield stream.write
        return
    try:
        descriptor, name = tempfile.mkstemp(dir=file.absolute().parent, prefix=f".{file.name[:100]}.")
    except OSError as error:  # it names the new file, of which the caller knows nothing
        raise typer.BadParameter(f"{file}: {error.strerror}") from error
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream.write
            stream.flush()
            os.fsync(stream.fileno())
        try:
            part.replace(file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file)) from error
    finally:
        part.unlink(missing_ok=True)


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("wb")
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from error
