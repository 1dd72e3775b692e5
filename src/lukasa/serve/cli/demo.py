"""`lukasa demo`: the example conversations, and what a memory makes of them; `make quickstart` runs it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from lukasa.archives import jsonl
from lukasa.archives.parts import parts
from lukasa.portal import run
from lukasa.results import MemoryItem
from lukasa.serve.cli import output
from lukasa.serve.cli.call import Call, Ids, placed
from lukasa.serve.cli.ingest import bar
from lukasa.serve.cli.keep import episode_of, store
from lukasa.serve.cli.tally import Tally

if TYPE_CHECKING:
    from lukasa.memory import Memory

NADIA: Final[Ids] = {"user_id": "nadia"}
LIWEI: Final[Ids] = {"user_id": "liwei"}
CONCIERGE: Final[Ids] = {"agent_id": "concierge"}

DENTIST: Final = "the dentist appointment with Dr. Berg"
MOVED: Final = "The dentist appointment with Dr. Berg was moved to 16 June at 14:00."
MOVED_ON: Final = "2026-06-04T10:00:00+00:00"
BEFORE: Final = "2026-06-01"
_BOOKING: Final = "KX7Q2M"

_COLUMNS: Final = ("score", "meaning", "words", "bm25")


@dataclass(frozen=True, slots=True)
class Scene:
    """One thing that is shown: its key in `--json`, a title, what is drawn, what `--json` answers."""

    name: str
    title: str
    parts: Sequence[RenderableType]
    answer: object


@placed
def demo(call: Call) -> None:
    """Ingest the example conversations and ask them questions: a tour, in under a minute."""
    path, folder = call.path, None
    if path is None:
        folder = tempfile.mkdtemp(prefix="lukasa-demo-")
        path = str(Path(folder) / "lukasa.db")
    placed_call = Call(path=path, space=call.space, json=call.json)
    scenes: list[Scene] = []
    with placed_call.memory(new=True) as memory:
        for scene in play(memory, shown=not call.json):
            scenes.append(scene)
            if not call.json:
                show(scene)
    if call.json:
        return output.document({"path": path, **{scene.name: scene.answer for scene in scenes}})
    return _farewell(path, folder)


def play(memory: Memory, *, shown: bool) -> Iterator[Scene]:
    """The tour, scene by scene."""
    yield _ingest(memory, shown=shown)
    yield _asked(memory, "english", "Questions, with the numbers behind each answer", NADIA, _ENGLISH)
    yield _asked(memory, "chinese", "The same in Chinese", LIWEI, _CHINESE)
    yield _said(memory)
    yield from _changed(memory)
    yield _apart(memory)
    yield _masked(memory)


_ENGLISH: Final = ("Is there food she does not eat?", "Who is Amina?", "a present for her niece")
_CHINESE: Final = ("他对什么过敏？", "他的新工作是什么？", "搬家公司什么时候来？")


def example_lines() -> Iterator[bytes]:
    """The bundled conversations, in the format that `lukasa ingest` reads."""
    for source in sorted(files("lukasa").joinpath("examples").iterdir(), key=lambda one: one.name):
        if source.name.endswith(".jsonl"):
            yield from source.read_bytes().splitlines()


def _ingest(memory: Memory, *, shown: bool) -> Scene:
    tally, lines = Tally(), list(example_lines())
    with bar(shown=shown, counts=True) as progress:
        for number, line in enumerate(progress.track(lines, description="conversations"), 1):
            said = jsonl.conversation(number, line)
            if said is not None:
                found = parts("jsonl", said, default={}, nobody={})
                window = [(part, episode_of(part, memory.aio.house.redactor)) for part in found]
                run(store(memory.aio, window, tally))
    text = (
        f"{tally.memories} memories of {len(lines)} conversations, January to June 2026: two people, "
        "nadia (English) and liwei (Chinese), and the notes of an agent, concierge. No model was asked: "
        "built-in rules chose what will matter later and wrote out who and when."
    )
    if tally.known:
        text += f" {tally.known} conversations were known already: nothing is stored twice."
    return Scene("ingest", "Ingest", [Text(text)], {"memories": tally.memories, "known": tally.known})


def _asked(memory: Memory, name: str, title: str, ids: Ids, questions: Sequence[str]) -> Scene:
    answers = {query: _search(memory, query, ids) for query in questions}
    return Scene(name, title, [_answered(query, ids, hits) for query, hits in answers.items()], answers)


def _said(memory: Memory) -> Scene:
    """What became no memory is not lost."""
    found = memory.search(_BOOKING, limit=1, include_sources=True, **NADIA).get("sources", [])
    lines = [[output.when(one["said_at"]), one["role"], one["text"]] for one in found]
    title = f"What was said and became no memory is found too: “{_BOOKING}”"
    return Scene("sources", title, [output.table(["when", "who", "said"], lines)], found)


def _changed(memory: Memory) -> Iterator[Scene]:
    """A fact changes: what was true is out of the way, and not lost."""
    done = memory.add(MOVED, timestamp=MOVED_ON, **NADIA)
    now = memory.search(DENTIST, limit=1, explain=True, **NADIA)["results"]
    then = memory.search(DENTIST, limit=1, explain=True, as_of=BEFORE, **NADIA)["results"]
    yield Scene(
        "change",
        "A fact changes: the new one ends the old one, which is found as of its time",
        [
            Text(f"“{MOVED}”"),
            Text("\n".join(f"  ends: {one['memory']}" for one in done["superseded"])),
            Text(""),
            _answered(f"{DENTIST}, now", NADIA, now),
            _answered(f"{DENTIST}, as of {BEFORE}", NADIA, then),
        ],
        {"superseded": done["superseded"], "now": now, f"as of {BEFORE}": then},
    )
    if not then:
        return
    history = memory.history(then[0]["id"], **NADIA)
    sources = memory.why(then[0]["id"], **NADIA)["sources"]
    said = [[output.when(one["said_at"]), one["role"], one["trust"], one["text"]] for one in sources]
    yield Scene(
        "history",
        "The history of the old one, and why it was known",
        [
            output.table(*output.events(history)),
            output.table(["when", "who", "trust", "source"], said),
        ],
        {"history": history, "sources": sources},
    )


def _apart(memory: Memory) -> Scene:
    """One search, three owners: nobody sees what is not theirs."""
    query = "early flights from Bergen"
    answers = {
        output.owner(ids.items()): _search(memory, query, ids, limit=1) for ids in (NADIA, LIWEI, CONCIERGE)
    }
    lines = [[who, hits[0]["memory"] if hits else "nothing"] for who, hits in answers.items()]
    title = f"Whose memory it is: “{query}”, asked three times"
    return Scene("scopes", title, [output.table(["as", "finds"], lines)], answers)


def _masked(memory: Memory) -> Scene:
    asked = "the API key of the weather script"
    found = memory.search(asked, limit=1, include_sources=True, **NADIA).get("sources", [])
    return Scene(
        "secrets",
        "Secrets are masked before anything is stored",
        [Text(f"  {one['text']}") for one in found],
        found,
    )


def _search(memory: Memory, query: str, ids: Ids, *, limit: int = 2) -> list[MemoryItem]:
    return memory.search(query, limit=limit, explain=True, **ids)["results"]


def _answered(query: str, ids: Mapping[str, object], hits: Sequence[MemoryItem]) -> RenderableType:
    asked = Text.assemble(("? ", "bold cyan"), (query, "bold"), (f"  ({output.owner(ids.items())})", "dim"))
    if not hits:
        return Group(asked, Text("  nothing", style="dim"), Text(""))
    lines = [
        [*output.scores(hit, _COLUMNS), output.when(hit["created_at"])[:10], hit["memory"]] for hit in hits
    ]
    return Group(asked, output.table([*_COLUMNS, "when", "memory"], lines))


def show(scene: Scene) -> None:
    """Draw a scene on stdout."""
    screen = output.console()
    screen.print(Rule(Text(scene.title, style="bold"), align="left"))
    for part in scene.parts:
        screen.print(part)
    screen.print()


def _farewell(path: str, folder: str | None) -> None:
    output.console().print(Rule(Text("Your turn", style="bold"), align="left"))
    place = f"--path {path}"
    output.say(f"The ledger of this tour is one file: {path}")
    beside = Path(sys.executable).parent / "lukasa"  # where the environment is not activated
    command = beside if beside.exists() and shutil.which("lukasa") is None else "lukasa"
    output.say(f'  {command} search "when is the choir" -u nadia --explain {place}')
    output.say(f'  {command} add "Nadia sings in a concert on 12 December" -u nadia {place}')
    output.say(f"  {command} list -u liwei {place}")
    if folder is not None:
        output.say(f"It stays until you take it away: rm -r {folder}")
