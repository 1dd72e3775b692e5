"""What every test gets: no network, no blocking call inside an event loop, Hypothesis without deadlines."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import settings

import lukasa

settings.register_profile("ci", deadline=None, max_examples=25)
settings.load_profile("ci")

_LOCAL = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def nothing_blocks_the_loop() -> Iterator[None]:
    """A blocking call of ours inside a running event loop fails the test."""
    with blockbuster_ctx(lukasa) as guard:
        for name in ("threading.Lock.acquire", "threading.Lock.acquire_lock"):
            if name in guard.functions:  # a sync verb inside somebody's running loop waits, and says so
                guard.functions[name].can_block_in("lukasa/portal.py", "run")
        yield


@pytest.fixture(autouse=True)
def network_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this machine can be reached."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def checked(address: object) -> None:
        if isinstance(address, tuple) and address[0] not in _LOCAL:
            pytest.fail(f"a test tried to reach {address!r}")

    def guarded(self: socket.socket, address: tuple[str, int]) -> None:
        checked(address)
        connect(self, address)

    def guarded_ex(self: socket.socket, address: tuple[str, int]) -> int:
        checked(address)
        return connect_ex(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_ex)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger may be made."""
    return tmp_path / "lukasa.db"
