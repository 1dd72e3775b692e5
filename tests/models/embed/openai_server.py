"""A server on this machine that answers in OpenAI's documented format.

Built from the SDK's own types (`CreateEmbeddingResponse`), not recorded: no request ever reached OpenAI.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

from openai.types import CreateEmbeddingResponse, Embedding
from openai.types.create_embedding_response import Usage

from lukasa.testing import HashEmbedder


@dataclass
class Reply:
    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, object]

    @property
    def texts(self) -> list[str]:
        return cast("list[str]", self.body["input"])


@dataclass
class Server:
    url: str = ""
    requests: list[Request] = field(default_factory=list[Request])
    replies: list[Reply] = field(default_factory=list[Reply])  # given first, in order
    change: Callable[[CreateEmbeddingResponse], object] | None = None


def vectors(texts: list[str], dim: int = 64) -> list[list[float]]:
    rows = asyncio.run(HashEmbedder(dim).embed(texts, use="passage"))
    return [[float(part) * 3 for part in row] for row in rows]  # not of unit length, as other servers do


def error(status: int, message: str, code: str | None = None, **headers: str) -> Reply:
    fault = {"message": message, "type": "error", "param": None, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps({"error": fault}), status, named)


@contextmanager
def serving() -> Generator[Server, None, None]:
    state = Server()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            request = Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            with lock:
                state.requests.append(request)
                reply = state.replies.pop(0) if state.replies else self.embeddings(request)
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            payload = reply.body.encode()
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def embeddings(self, request: Request) -> Reply:
            dim = cast("int", request.body.get("dimensions", 64))
            found = CreateEmbeddingResponse(
                data=[
                    Embedding(embedding=row, index=place, object="embedding")
                    for place, row in enumerate(vectors(request.texts, dim))
                ],
                model=str(request.body["model"]),
                object="list",
                usage=Usage(prompt_tokens=1, total_tokens=1),
            )
            if state.change is not None:
                state.change(found)
            return Reply(found.model_dump_json())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name in the base class
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        yield state
        server.shutdown()
        thread.join()
