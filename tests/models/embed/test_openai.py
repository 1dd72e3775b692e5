"""What is sent to the server, and what becomes of its answers."""

from __future__ import annotations

import asyncio
import os
import socket
import time
import traceback
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from blockbuster import blockbuster_ctx
from openai.types import CreateEmbeddingResponse

from lukasa.errors import ConfigError, EmbeddingError
from lukasa.models.embed.base import Calibration
from lukasa.models.embed.openai import OpenAIEmbedder

from .openai_server import Reply, Server, error, serving, vectors
from .scripts import IDLE, run

if TYPE_CHECKING:
    from lukasa.models.embed.base import Matrix

KEY = "sk-secret-0123456789"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        yield state


def make(server: Server, *, max_retries: int = 0, dimensions: int | None = None) -> OpenAIEmbedder:
    return OpenAIEmbedder(api_key=KEY, base_url=server.url, max_retries=max_retries, dimensions=dimensions)


def embed(embedder: OpenAIEmbedder, texts: Sequence[str]) -> Matrix:
    async def call() -> Matrix:
        try:
            return await embedder.embed(texts, use="passage")
        finally:
            await embedder.aclose()

    return asyncio.run(call())


def failure(embedder: OpenAIEmbedder, texts: Sequence[str] = ("tea", "coffee")) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as caught:
        embed(embedder, texts)
    assert (caught.value.provider, caught.value.operation) == ("openai", "embed")
    assert KEY not in str(caught.value)
    return caught.value


def test_only_what_was_set_is_sent(server: Server) -> None:
    embed(make(server), ["tea", "coffee"])
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "text-embedding-3-small",
        "input": ["tea", "coffee"],
        "encoding_format": "float",
    }


def test_dimensions_are_sent_where_set_and_named_in_the_model(server: Server) -> None:
    embedder = make(server, dimensions=32)
    assert embed(embedder, ["tea"]).shape == (1, 32)
    assert server.requests[0].body["dimensions"] == 32
    assert embedder.model == "openai:text-embedding-3-small@32"
    assert make(server).model == "openai:text-embedding-3-small"


def test_vectors_are_scaled_to_unit_length(server: Server) -> None:
    rows = embed(make(server), ["tea"])
    expected = np.array(vectors(["tea"]), dtype=np.float32)
    assert rows == pytest.approx(expected / 3, abs=1e-6)


def test_vectors_follow_their_index_not_their_place(server: Server) -> None:
    texts = [f"text {n}" for n in range(10)]
    straight = embed(make(server), texts)

    def reverse(found: CreateEmbeddingResponse) -> None:
        found.data.reverse()

    server.change = reverse
    assert np.array_equal(embed(make(server), texts), straight)


def test_many_texts_go_in_batches_and_come_back_in_order(server: Server) -> None:
    texts = [f"text {n}" for n in range(250)]
    rows = embed(make(server), texts)
    assert sorted(len(request.texts) for request in server.requests) == [50, 100, 100]
    assert rows == pytest.approx(np.array(vectors(texts)) / 3, abs=1e-6)


def test_large_texts_are_cut_and_divided_by_bytes(server: Server) -> None:
    text = "他们最喜欢港口边的一家越南小餐馆。" * 2000
    embed(make(server), [text] * 10)
    assert len(server.requests) > 1
    for request in server.requests:
        assert sum(len(window.encode()) for window in request.texts) <= 300_000
        assert all(len(window.encode()) <= 8_000 for window in request.texts)
    assert sum(len(request.texts) for request in server.requests) == 160


def test_a_busy_server_is_asked_again_when_it_says(server: Server) -> None:
    server.replies.append(error(429, "slow down", Retry_After="1"))
    start = time.perf_counter()
    assert len(embed(make(server, max_retries=2), ["tea"])) == 1
    assert time.perf_counter() - start > 0.7
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "retryable", "says"),
    [
        (error(429, "slow down", Retry_After="0"), True, "HTTP 429"),
        (error(429, "no credit left", code="insufficient_quota"), False, "no credit left"),
        (error(401, f"Incorrect API key provided: {KEY}"), False, "check api_key"),
        (error(403, "not for you"), False, "check api_key"),
        (error(404, "no such model"), False, "no such model"),
        (error(400, f"this is wrong: {KEY}"), False, r"this is wrong: \*\*\*"),
        (error(500, "oops"), True, "HTTP 500"),
        (error(503, "overloaded"), True, "HTTP 503"),
    ],
)
def test_refusals_are_translated_and_keep_their_cause(
    server: Server, reply: Reply, retryable: bool, says: str
) -> None:
    server.replies.append(reply)
    caught = failure(make(server))
    assert caught.retryable is retryable
    assert caught.__cause__ is not None
    assert len(server.requests) == 1
    with pytest.raises(EmbeddingError, match=says):
        raise caught


@pytest.mark.parametrize("status", [429, 500])
def test_retries_are_as_many_as_set(server: Server, status: int) -> None:
    server.replies += [error(status, "no", retry_after_ms="1") for _ in range(5)]
    assert failure(make(server, max_retries=2)).retryable
    assert len(server.requests) == 3


def drop_one(found: CreateEmbeddingResponse) -> None:
    del found.data[-1]


def same_index(found: CreateEmbeddingResponse) -> None:
    for item in found.data:
        item.index = 0


def short_vector(found: CreateEmbeddingResponse) -> None:
    found.data[0].embedding = [1.0]


def zero_vector(found: CreateEmbeddingResponse) -> None:
    found.data[0].embedding = [0.0] * 64


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (drop_one, "sent 2 texts, got 1 vectors"),
        (same_index, "indexes"),
        (short_vector, "equal length"),
        (zero_vector, "zero"),
    ],
)
def test_wrong_replies_are_named(server: Server, change: object, says: str) -> None:
    assert callable(change)
    server.change = change
    assert says in str(failure(make(server)))


@pytest.mark.parametrize(
    "body",
    [
        "<html>a proxy's page</html>",
        "{}",
        '{"data": null}',
        '{"data": [{"index": 0, "embedding": "AACAPw=="}]}',
        '{"data": [{"index": null, "embedding": [1.0]}]}',
        "",
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
def test_replies_that_are_no_embeddings_are_refused(server: Server, body: str, kind: str) -> None:
    server.replies.append(Reply(body, headers={"content-type": kind}))
    assert "no list of embeddings" in str(failure(make(server), ["tea"]))


def test_one_failing_batch_fails_the_call_with_its_own_error(server: Server) -> None:
    server.replies.append(error(500, "oops"))
    caught = failure(make(server), [f"text {n}" for n in range(250)])
    assert "HTTP 500" in str(caught)
    assert caught.__cause__ is not None
    assert "ExceptionGroup" not in "".join(traceback.format_exception(caught))


def test_a_closed_server_is_a_failure_that_may_pass() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    caught = failure(OpenAIEmbedder(api_key=KEY, base_url=url, max_retries=0))
    assert caught.retryable
    assert "cannot be reached" in str(caught)


def test_a_silent_server_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        caught = failure(OpenAIEmbedder(api_key=KEY, base_url=url, max_retries=0, timeout=0.2))
    assert caught.retryable
    assert "in time" in str(caught)


def test_blank_texts_are_never_sent(server: Server) -> None:
    assert not failure(make(server), ["tea", " "]).retryable
    assert server.requests == []


def test_no_texts_are_no_request(server: Server) -> None:
    assert embed(make(server), []).shape == (0, 0)
    assert server.requests == []


def test_one_embedder_serves_many_loops_and_reopens_after_closing(server: Server) -> None:
    embedder = make(server)
    first, second = embed(embedder, ["tea"]), embed(embedder, ["tea"])
    assert np.array_equal(first, second)

    async def twice() -> None:
        for _ in range(2):
            await embedder.embed(["tea"], use="query")
            await embedder.aclose()
        await embedder.aclose()

    asyncio.run(twice())
    assert len(server.requests) == 4


def test_the_loop_is_never_blocked(server: Server) -> None:
    with blockbuster_ctx():
        embed(make(server), ["tea"])


def test_making_one_does_no_io_and_loads_nothing() -> None:
    assert run(IDLE.format(module="lukasa.models.embed.openai", name="OpenAIEmbedder")) == "[]"


@pytest.mark.skipif("OPENAI_API_KEY" in os.environ, reason="a key is set in the environment")
def test_without_a_key_the_setting_is_named() -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        embed(OpenAIEmbedder(), ["tea"])


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ConfigError, match="batch_size"):
        OpenAIEmbedder(batch_size=0)


def test_the_calibration_is_neutral_unless_given() -> None:
    measured = Calibration(mean=0.3, spread=0.05, same=0.99)
    assert OpenAIEmbedder().calibration == Calibration()
    assert OpenAIEmbedder(calibration=measured).calibration == measured
