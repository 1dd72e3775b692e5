"""Lukasa beside mem0 2.2.1 on one machine, in one run: `make bench-mem0`. No model, no network once installed.

mem0 is installed into an environment of its own (.venv-mem0) and used as it comes: its local qdrant on disk,
infer=False, no LLM is ever called. Both sides get the same texts and the same ready vectors, each in its own
process, and are driven in turns, call by call. Times are CPU, which other work on the machine disturbs
least. mem0's stores are filled by batches into its vector store, since its `add` would take an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

import numpy as np
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.texts import queries, texts
from lukasa.testing import HashEmbedder

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
ENVIRONMENT = ROOT / ".venv-mem0"
NEEDED = ROOT / "bench" / "requirements-mem0.txt"
DIM = 384
PYTHONS = {"lukasa": sys.executable, "mem0": str(ENVIRONMENT / "bin" / "python")}
# Another mem0 on this machine, and keys for services, must not play a part.
SURROUNDINGS = {
    "PATH": os.environ.get("PATH", ""),
    "MEM0_TELEMETRY": "False",
    "OPENAI_API_KEY": "sk-not-a-key",
    "LANG": "C.UTF-8",
}


def install() -> None:
    """mem0's environment, made once; made again where the requirements changed."""
    done = ENVIRONMENT / ".installed"
    if done.exists() and done.stat().st_mtime > NEEDED.stat().st_mtime:
        return
    print(f"installing mem0 into {ENVIRONMENT.name} ...", flush=True)
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", str(ENVIRONMENT)], check=True)
    subprocess.run(
        [base, "-m", "pip", "--python", PYTHONS["mem0"], "install", "--quiet", "-r", str(NEEDED)], check=True
    )
    done.touch()


class Side:
    """A library in a process of its own, which does one thing at a time."""

    def __init__(self, name: str, folder: Path, *, before: tuple[str, ...] = ()) -> None:
        # -P: this folder has a module named mem0, too.
        command = [*before, PYTHONS[name], "-P", str(ROOT / "bench" / "mem0_side.py"), name, str(folder)]
        home = folder / f"home-{name}"
        home.mkdir(exist_ok=True)
        self.log = folder / f"{name}.log"
        self._errors = self.log.open("a")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=SURROUNDINGS | {"HOME": str(home), "MEM0_DIR": str(home)},
        )

    def __call__(self, op: str, store: str, *args: object) -> Any:
        print(json.dumps({"op": op, "store": store, "args": args}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the other process ended; its last words:\n{self.log.read_text()[-2000:]}")
        return json.loads(line)

    def end(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)
        self._errors.close()


class Run:
    """The figures of a run, printed as they come."""

    def __init__(self, *, judged: bool) -> None:
        self.figures: list[dict[str, object]] = []
        self.judged = judged
        print(f"{'':54} {'Lukasa':>12} {'mem0':>12}  {'ratio':>8}  wanted")

    def figure(self, name: str, unit: str, lukasa: float, mem0: float, *, bar: float | None = None) -> None:
        """*bar*: what Lukasa's figure may be at most, as a share of mem0's."""
        share = lukasa / mem0 if mem0 else float("inf")
        wanted = (
            None
            if bar is None or not self.judged
            else f"1/{1 / bar:.0f}: {'met' if share <= bar else 'MISSED'}"
        )
        ratio = "same" if share == 1 else f"1/{1 / share:.3g}" if 0 < share < 1 else f"{share:.3g}"
        self.figures.append(
            {"name": name, "unit": unit, "Lukasa": lukasa, "mem0": mem0, "ratio": ratio, "wanted": wanted}
        )
        print(
            f"{name:54} {lukasa:9.3f} {unit:>3} {mem0:8.3f} {unit:>3}  {ratio:>8}  {wanted or ''}", flush=True
        )

    @property
    def missed(self) -> list[str]:
        return [str(f["name"]).strip() for f in self.figures if "MISSED" in str(f["wanted"])]


def ms(taken: list[dict[str, float]], what: str, q: float = 0.5) -> float:
    return float(np.quantile([one[what] for one in taken], q)) * 1e3


def one_user(run: Run, both: dict[str, Side], lines: list[str], asked: list[str], new: list[str]) -> None:
    """One user with many memories: searches, then adds."""
    load(both, "one", [("u0", lines)])
    for side in both.values():
        side("search", "one", "u0", asked[0])
    found = turns(both, [("search", "one", "u0", query) for query in asked])
    n = f"{len(lines):,}"
    run.figure(f"search, one user, {n} memories, p50 CPU", "ms",
               ms(found["lukasa"], "cpu"), ms(found["mem0"], "cpu"), bar=1 / 50)  # fmt: skip
    run.figure("  p95 CPU", "ms", ms(found["lukasa"], "cpu", 0.95), ms(found["mem0"], "cpu", 0.95))
    run.figure("  p50 wall", "ms", ms(found["lukasa"], "wall"), ms(found["mem0"], "wall"))
    added = turns(both, [("add", "one", "u0", text) for text in new])
    run.figure(f"add one message to {n}, infer=False, p50 CPU", "ms",
               ms(added["lukasa"], "cpu"), ms(added["mem0"], "cpu"))  # fmt: skip
    run.figure("  p50 wall", "ms", ms(added["lukasa"], "wall"), ms(added["mem0"], "wall"))
    for side in both.values():
        side("close", "one")


def many_users(
    run: Run, both: dict[str, Side], lines: list[str], asked: list[str], *, each: int, users: int
) -> None:
    """Many users with few memories each; every search is another user's."""
    load(both, "many", [(f"u{u}", lines[u * each : (u + 1) * each]) for u in range(users)])
    step = users // len(asked)
    orders = [("search", "many", f"u{i * step}", query) for i, query in enumerate(asked)]
    for side in both.values():
        side("search", "many", f"u{users - 1}", asked[0])
    first = [both["lukasa"](*order) for order in orders]
    found = turns(both, orders)
    run.figure(f"search, {users:,} users x {each}, p50 CPU", "ms",
               ms(found["lukasa"], "cpu"), ms(found["mem0"], "cpu"), bar=1 / 200)  # fmt: skip
    run.figure("  p95 CPU", "ms", ms(found["lukasa"], "cpu", 0.95), ms(found["mem0"], "cpu", 0.95))
    run.figure("  a user's first search, p50 CPU", "ms", ms(first, "cpu"), ms(found["mem0"], "cpu"))
    for side in both.values():
        side("close", "many")


def load(both: dict[str, Side], store: str, lots: list[tuple[str, list[str]]]) -> None:
    for name, side in both.items():
        side("open", store)
        start = time.perf_counter()
        for user, lines in lots:
            side("load", store, user, lines)
        count = sum(len(lines) for _, lines in lots)
        print(f"  ({name}: {count:,} memories loaded in {time.perf_counter() - start:.0f} s)", flush=True)


def turns(both: dict[str, Side], orders: list[tuple[str, ...]]) -> dict[str, list[dict[str, float]]]:
    """Every order to both sides, one after the other."""
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in both}
    for order in orders:
        for name, side in both.items():
            taken[name].append(side(*order))
    for name, answers in taken.items():
        if statistics.median(one["answer"] for one in answers) < 1:
            raise RuntimeError(f"{name} answered {orders[0][0]} with nothing: there is nothing to compare")
    return taken


def syncs(run: Run, folder: Path, lines: list[str]) -> None:
    """How often one add waits for the disk: fsync and fdatasync calls, counted by strace."""
    if shutil.which("strace") is None:
        print("add one message, fsyncs: left out, since strace is not installed")
        return
    counted: dict[str, float] = {}
    for name in PYTHONS:
        log = folder / f"strace-{name}.log"
        trace = ("strace", "-f", "-e", "trace=fsync,fdatasync,write", "-o", str(log))
        side = Side(name, folder, before=trace)
        side("open", "sync")
        side("add", "sync", "u0", lines[0])
        for line in lines[1:]:
            side("mark", "sync")
            side("add", "sync", "u0", line)
        side("mark", "sync")
        side("close", "sync")
        side.end()
        counted[name] = statistics.median(_between_marks(log.read_text()))
    run.figure("add one message, fsyncs", "", counted["lukasa"], counted["mem0"], bar=1 / 8)


def _between_marks(trace: str) -> list[int]:
    counts: list[int] = []
    for line in trace.splitlines():
        if "lukasa-bench-mark" in line:
            counts.append(0)
        elif counts and re.search(r"\bf(data)?sync\(", line):
            counts[-1] += 1
    return counts[:-1]


def importing(run: Run, times: int) -> None:
    """CPU seconds of a process that imports the library, beyond those of one that imports nothing."""
    programs = {"lukasa": "import lukasa", "mem0": "import mem0"}
    taken: dict[str, list[float]] = {"lukasa": [], "mem0": [], "none": []}
    for program, name in ((p, n) for n, p in programs.items()):
        _cpu(PYTHONS[name], program)  # compiles what is not compiled yet
    for _ in range(times):
        for name, program in programs.items():
            taken[name].append(_cpu(PYTHONS[name], program))
        taken["none"].append(_cpu(PYTHONS["mem0"], "pass"))
    bare, of = statistics.median(taken["none"]), {n: statistics.median(taken[n]) for n in programs}
    run.figure(
        "import, CPU beyond python's own start", "s", of["lukasa"] - bare, of["mem0"] - bare, bar=1 / 10
    )


def _cpu(python: str, program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(prefix="lukasa-bench-") as home:
        env = SURROUNDINGS | {"HOME": home, "MEM0_DIR": home}
        subprocess.run([python, "-P", "-c", program], check=True, capture_output=True, env=env, cwd=home)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sizes(run: Run) -> None:
    """Megabytes of the library and all that it requires, without extras."""
    folders = {name: _site_packages(python) for name, python in PYTHONS.items()}
    known = {name: _installed(folder) for name, folder in folders.items()}
    ours = required("lukasa", known["lukasa"])
    theirs = required("mem0ai", known["mem0"])
    own = [path for path in (ROOT / "src" / "lukasa").rglob("*") if path.is_file()]  # editable: not in RECORD
    mine = sum(map(_bytes, ours)) + sum(path.stat().st_size for path in own)
    run.figure("installed size, with all it requires", "MB", mine / 1e6, sum(map(_bytes, theirs)) / 1e6)
    run.figure("installed packages", "", len(ours), len(theirs))


def _site_packages(python: str) -> str:
    program = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def _installed(folder: str) -> dict[str, Distribution]:
    return {canonicalize_name(one.metadata["Name"]): one for one in distributions(path=[folder])}


def required(root: str, known: dict[str, Distribution]) -> list[Distribution]:
    """The distributions that `pip install root` brings."""
    reached: dict[str, set[str]] = {}
    waiting = [(canonicalize_name(root), frozenset[str]())]
    while waiting:
        name, extras = waiting.pop()
        if name not in known or (name in reached and extras <= reached[name]):
            continue
        reached.setdefault(name, set()).update(extras)
        for line in known[name].requires or ():
            need = Requirement(line)
            if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in ("", *extras)):
                waiting.append((canonicalize_name(need.name), frozenset(need.extras)))
    return [known[name] for name in reached]


def _bytes(one: Distribution) -> int:
    paths = (Path(str(one.locate_file(file))) for file in one.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def prepare(folder: Path, lines: list[str]) -> None:
    """The texts and their vectors, for both sides to read."""
    vectors = asyncio.run(HashEmbedder(DIM).embed(lines, use="passage"))
    np.save(folder / "vectors.npy", vectors)
    (folder / "texts.json").write_text(json.dumps(lines))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of everything, not judged: to try the program out"
    )
    given = parser.parse_args()
    scale = 10 if given.quick else 1
    users, each, n = 1000 // scale, 50, 10_000 // scale
    install()
    start = time.perf_counter()
    lines, asked = texts(users * each + 100), list(dict.fromkeys(queries(60)))
    new, stored = lines[users * each :], lines[: users * each]
    run = Run(judged=not given.quick)
    with tempfile.TemporaryDirectory(prefix="lukasa-bench-") as made:
        folder = Path(made)
        prepare(folder, lines + asked)
        parts: list[Callable[[], None]] = [
            lambda: importing(run, 3 if given.quick else 7),
            lambda: sizes(run),
            lambda: syncs(run, folder, new[:21]),
        ]
        for part in parts:
            part()
        both = {name: Side(name, folder) for name in PYTHONS}
        one_user(run, both, stored[:n], asked[: 40 // (4 if given.quick else 1)], new[:60])
        many_users(run, both, stored, asked[:20], each=each, users=users)
        for side in both.values():
            side.end()
    machine = {
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "mem0ai": next(
            v.version for k, v in _installed(_site_packages(PYTHONS["mem0"])).items() if k == "mem0ai"
        ),
    }
    RESULTS.mkdir(exist_ok=True)
    if not given.quick:
        (RESULTS / "mem0.json").write_text(json.dumps({"machine": machine, "figures": run.figures}, indent=1))
    print(
        f"\n{time.perf_counter() - start:.0f} s"
        + (f"; missed: {'; '.join(run.missed)}" if run.missed else "")
    )
    return 1 if run.missed else 0


if __name__ == "__main__":
    sys.exit(main())
