"""Exit codes: what a script can tell apart. `docs/cli.md` lists them, and a test compares."""

from __future__ import annotations

from enum import IntEnum

from lukasa.errors import LukasaError, MemoryNotFound


class Code(IntEnum):
    """How a command ended."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NOT_FOUND = 3
    FINDINGS = 4
    INTERRUPTED = 130  # 128 + SIGINT, as shells count


def code_of(error: LukasaError) -> Code:
    """The exit code of an error of the library."""
    return Code.NOT_FOUND if isinstance(error, MemoryNotFound) else Code.ERROR
