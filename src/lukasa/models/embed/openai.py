"""Embeddings from OpenAI, or from any server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ValidationError

from lukasa.errors import ConfigError, EmbeddingError, MissingExtra
from lukasa.models.embed.base import Calibration
from lukasa.models.embed.batches import batches
from lukasa.models.embed.rows import readable, unit_rows
from lukasa.models.embed.windows import cut, pool
from lukasa.runtime import PerLoop, gather_bounded, in_thread, unforked

if TYPE_CHECKING:
    from openai import APIError, AsyncOpenAI

    from lukasa.models.embed.base import Matrix, Use

# An input may have 8,192 tokens and a request 300,000. A token of a byte-level vocabulary is at least
# one byte, and 2,000 characters are at most 8,000 bytes: within both limits in every language.
LIMIT = 2000
REQUEST_BYTES = 300_000
MOST = 16
AT_ONCE = 4


class OpenAIEmbedder:
    """Vectors from *model* at OpenAI, or at *base_url* where another server answers in the same format.

    Without *api_key* the SDK reads `OPENAI_API_KEY`. Of a text longer than 16 windows of 2,000 characters,
    16 windows are read, spread evenly. Nothing is published about this provider's cosines, so the default
    *calibration* is neutral: pass your own, measured on your texts, for scores that use the whole scale.
    Failed requests are sent again by the SDK, up to *max_retries* times, as late as the server asks.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        dimensions: int | None = None,
        batch_size: int = 100,
        timeout: float | None = None,  # an option of the client
        max_retries: int = 2,
        calibration: Calibration | None = None,
    ) -> None:
        if not 1 <= batch_size <= 2048:
            raise ConfigError(f"batch_size must be between 1 and 2048, not {batch_size}")
        self._name = model
        self._api_key = api_key
        self._base_url = base_url
        self._dimensions = dimensions
        self._batch_size = batch_size
        self._timeout = timeout
        self._max_retries = max_retries
        self._calibration = calibration or Calibration()
        self._clients = PerLoop(_Slot)

    @property
    def model(self) -> str:
        """What made the vectors, as the ledger records it. Where the server stands is no part of it."""
        size = f"@{self._dimensions}" if self._dimensions is not None else ""
        return f"openai:{self._name}{size}"

    @property
    def calibration(self) -> Calibration:
        """The one that was given, else the neutral default."""
        return self._calibration

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:  # symmetric
        """One unit row a text. Raises `EmbeddingError` for a blank text, a failed request, a wrong reply."""
        if not texts:
            return np.zeros((0, self._dimensions or 0), dtype=np.float32)
        made = cut(readable(texts, provider="openai"), limit=LIMIT, most=MOST)
        client = await self._client()
        work = [
            partial(self._request, client, batch)
            for batch in batches(made.windows, most=self._batch_size, most_bytes=REQUEST_BYTES)
        ]
        replies = await gather_bounded(AT_ONCE, work)
        rows = [vector for reply in replies for vector in reply]
        return pool(unit_rows(rows, count=len(made.windows), provider="openai"), made)

    async def aclose(self) -> None:
        """Close the running loop's connections; a later `embed` opens new ones."""
        slot = self._clients.get()
        if slot.client is not None:
            client, slot.client = slot.client, None
            await client.close()

    async def _client(self) -> AsyncOpenAI:
        slot = self._clients.get()
        if slot.client is None:
            # In a thread: importing the SDK and reading the certificates take a good second.
            made = await in_thread(self._connect)
            if slot.client is None:
                slot.client = made
        return slot.client

    def _connect(self) -> AsyncOpenAI:
        try:
            with unforked():
                import_module("openai")
        except ModuleNotFoundError as error:
            raise MissingExtra("'openai' needs its SDK: pip install 'lukasa[openai]'") from error
        from openai import NOT_GIVEN, AsyncOpenAI, OpenAIError

        try:
            return AsyncOpenAI(
                api_key=self._api_key,
                base_url=self._base_url,
                timeout=NOT_GIVEN if self._timeout is None else self._timeout,
                max_retries=self._max_retries,
            )
        except OpenAIError as error:
            raise ConfigError(
                "no key for OpenAI: pass api_key=..., or set OPENAI_API_KEY "
                "(any text will do for a server without keys)"
            ) from error

    async def _request(self, client: AsyncOpenAI, texts: list[str]) -> list[list[float]]:
        from openai import APIError

        try:
            # Raw, because the SDK takes any reply for an embedding and leaves missing fields out.
            raw = await client.embeddings.with_raw_response.create(
                model=self._name,
                input=texts,
                encoding_format="float",  # the SDK's default, base64, is unknown to many other servers
                extra_body=None if self._dimensions is None else {"dimensions": self._dimensions},
            )
        except APIError as error:
            raise self._translated(error) from error
        try:
            reply = _Reply.model_validate_json(raw.content)
        except ValidationError as error:
            raise _failure(
                f"the reply is no list of embeddings ({error.error_count()} faults)", retryable=False
            ) from error
        return _in_order(reply.data, len(texts))

    def _translated(self, error: APIError) -> EmbeddingError:
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        if isinstance(error, APITimeoutError):
            return _failure("no reply in time", retryable=True)
        if isinstance(error, APIConnectionError):
            return _failure("the server cannot be reached", retryable=True)
        if not isinstance(error, APIStatusError):
            return _failure(self._without_key(error.message), retryable=True)
        status = error.status_code
        if status in {401, 403}:  # the server's own words may repeat the key
            return _failure(f"the key was refused (HTTP {status}): check api_key", retryable=False)
        # An account without credit answers 429 as well, and will until it is paid.
        retryable = status >= 500 or (status in {408, 409, 429} and error.code != "insufficient_quota")
        return _failure(f"HTTP {status}: {self._without_key(error.message)}", retryable=retryable)

    def _without_key(self, message: str) -> str:
        return (message.replace(self._api_key, "***") if self._api_key else message)[:300]


class _Item(BaseModel):
    index: int
    embedding: list[float]


class _Reply(BaseModel):
    """What is read of a reply; servers add fields of their own, so that others are let through."""

    data: list[_Item]


class _Slot:
    """The client of one loop: made at first use, gone after `aclose`."""

    def __init__(self) -> None:
        self.client: AsyncOpenAI | None = None


def _in_order(found: Sequence[_Item], count: int) -> list[list[float]]:
    """The vectors by their `index`: servers may answer in any order."""
    if len(found) != count:
        raise _failure(f"sent {count} texts, got {len(found)} vectors", retryable=True)
    vectors = {item.index: item.embedding for item in found}
    if set(vectors) != set(range(count)):
        raise _failure(
            f"the vectors' indexes are not 0 to {count - 1} but {sorted(vectors)[:5]}", retryable=False
        )
    return [vectors[place] for place in range(count)]


def _failure(what: str, *, retryable: bool) -> EmbeddingError:
    return EmbeddingError(f"openai: {what}", provider="openai", operation="embed", retryable=retryable)
