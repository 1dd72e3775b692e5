"""Anthropic's export of Claude: conversations, and what Claude keeps as its memory of a person.

The form is not published. What is known of it comes from the readers that others have written for their own
exports; docs/ingest.md says what is taken and what is left.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final

from lukasa.archives.base import Advance, Conversation, Entries, Kept, Left, Problem, Time
from lukasa.archives.files import Member, named
from lukasa.archives.json_files import objects
from lukasa.archives.values import list_of, mapping_of, text_of, time_of

CONVERSATIONS: Final = r"conversations(-\d+)?\.json"
MEMORIES: Final = r"memories(-\d+)?\.json|memories/[^/]+\.json"
PROJECTS: Final = r"projects(-\d+)?\.json|projects/[^/]+\.json"

_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant"}
# What the export writes in place of a block that it cannot show.
_HOLE: Final = re.compile(r"\s*```\s*This block is not supported on your current device yet\.\s*```\s*")
_HEADING: Final = re.compile(r"#{1,6} +(?P<hash>\S.*)|\*\*(?P<bold>[^*]+?):?\*\*:?")


def read(found: list[Member], advance: Advance) -> Entries:
    """Projects (for their names), memories, then conversations."""
    names = dict[str, str]()
    for member in named(found, PROJECTS):
        yield from _projects(member, advance, names)
    for member in named(found, MEMORIES):
        for place, entry in objects(member, advance):
            yield from [entry] if isinstance(entry, Problem) else _memories(entry, place, names)
    alone = found if len(found) == 1 and not named(found, f"{MEMORIES}|{PROJECTS}") else []
    for member in named(found, CONVERSATIONS) or alone:
        for place, entry in objects(member, advance):
            if isinstance(entry, Problem):
                yield entry
            else:
                yield from entry_of(entry, place, names)


def entry_of(given: Mapping[str, object], place: str, names: Mapping[str, str]) -> Entries:
    """What an object is: a conversation, or memories under a name of the user's own."""
    if "chat_messages" in given:
        yield from _conversation(given, place)
    else:
        yield from _memories(given, place, names)


# --- conversations


def _conversation(given: Mapping[str, object], place: str) -> Entries:
    key = text_of(given.get("uuid"))
    if not key:
        yield Problem(place, "not a conversation of Claude: it has no 'uuid'")
        return
    title, left = text_of(given.get("name")), Counter[str]()
    begun = time_of(given.get("created_at"))
    messages = [
        said
        for message in talk(list_of(given.get("chat_messages")), given.get("current_leaf_message_uuid"))
        if (said := _message(message, begun, left)) is not None
    ]
    if messages:
        yield Conversation(
            key=key,
            messages=tuple(messages),
            where=f"conversation {title or key!r:.80}",
            title=title or None,
            metadata={"source": "claude", "conversation_id": key, **({"title": title} if title else {})},
            timestamp=begun,
        )
    else:
        left["conversations without a word"] += 1
    yield from (Left(what, count) for what, count in left.items() if count)


def talk(messages: Sequence[object], leaf: object) -> list[Mapping[str, object]]:
    """The messages in order; where they name their parents, the branch that ends at *leaf* or the newest."""
    said = [mapping_of(message) for message in messages]
    nodes = {uuid: one for one in said if (uuid := text_of(one.get("uuid")))}
    if not any(text_of(one.get("parent_message_uuid")) in nodes for one in said):
        return said
    parents = {text_of(one.get("parent_message_uuid")) for one in said}
    leaves = [key for key in nodes if key not in parents]
    newest = max(leaves, key=lambda key: text_of(nodes[key].get("created_at")), default="")
    at = leaf if isinstance(leaf, str) and leaf in nodes else newest
    path: list[Mapping[str, object]] = []
    passed: set[str] = set()
    while at in nodes and at not in passed:
        passed.add(at)
        path.append(nodes[at])
        at = text_of(nodes[at].get("parent_message_uuid"))
    return path[::-1]


def _message(given: Mapping[str, object], begun: Time | None, left: Counter[str]) -> dict[str, object] | None:
    role = _ROLES.get(text_of(given.get("sender")))
    if role is None:
        left[f"messages of the sender {given.get('sender')!r:.40}"] += 1
        return None
    before = left.total()
    # A pasted text is an attachment as well: a document, whoever wrote it.
    left.update({"attachments": len(list_of(given.get("attachments"))), "files": len(_files(given))})
    text = _text(given, left)
    if not text:
        left["empty messages"] += left.total() == before
        return None
    at = time_of(given.get("created_at")) or begun
    message: dict[str, object] = {"role": role, "content": text}
    return message if at is None else {**message, "timestamp": at}


def _files(given: Mapping[str, object]) -> Sequence[object]:
    return list_of(given.get("files")) or list_of(given.get("files_v2"))


def _text(given: Mapping[str, object], left: Counter[str]) -> str:
    """What was said. `text` repeats it, thoughts in between: it counts only where there are no parts."""
    parts = [mapping_of(part) for part in list_of(given.get("content"))]
    for part in parts:
        kind = text_of(part.get("type"))
        if kind != "text":
            left[_PARTS.get(kind, f"parts of the type {kind!r:.40}")] += 1
    texts = [text_of(part.get("text")) for part in parts if part.get("type") == "text"]
    if not parts:
        texts = [text_of(given.get("text"))]
    return _HOLE.sub("\n\n", "\n\n".join(text for text in texts if text)).strip()


_PARTS: Final = {
    "thinking": "thoughts",
    "redacted_thinking": "thoughts",
    "tool_use": "calls of tools",
    "tool_result": "results of tools",
    "image": "images",
    "token_budget": "notes about the length of the talk",
}


# --- memories


def _projects(member: Member, advance: Advance, names: dict[str, str]) -> Entries:
    left = Counter[str]()
    for _, entry in objects(member, advance):
        if isinstance(entry, Problem):
            yield entry
            continue
        names[text_of(entry.get("uuid"))] = text_of(entry.get("name"))
        left["documents of projects"] += len(list_of(entry.get("docs")))
        left["instructions of projects"] += bool(text_of(entry.get("prompt_template")))
    yield from (Left(what, count) for what, count in left.items() if count)


def _memories(given: Mapping[str, object], place: str, names: Mapping[str, str]) -> Entries:
    """What Claude noted of a person: one memory a paragraph or point, with the heading above it."""
    account = text_of(given.get("account_uuid"))
    yield from _notes(text_of(given.get("conversations_memory")), place, account, {}, None)
    for project, text in mapping_of(given.get("project_memories")).items():
        more = {"project": names.get(project) or project}
        yield from _notes(text_of(text), place, f"{account}/{project}", more, None)
    for file in map(mapping_of, list_of(given.get("memory_files"))):
        path = text_of(file.get("path"))
        at = time_of(file.get("updated_at"))
        yield from _notes(text_of(file.get("content")), place, f"{account}/{path}", {"file": path}, at)


def _notes(text: str, place: str, origin: str, more: Mapping[str, object], at: Time | None) -> Iterator[Kept]:
    for section, note in paragraphs(text):
        digest = sha256("\n".join((origin, section, note)).encode("utf-8", "surrogatepass")).hexdigest()
        yield Kept(
            key=digest[:32],
            text=note,
            where=place,
            metadata={**more, **({"section": section} if section else {})},
            created_at=at,
            attributed_to="assistant",
        )


def paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Each paragraph and each point of a list, with the heading above it ("" where there is none)."""
    section, lines = "", list[str]()
    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        point = re.fullmatch(r"(?:[-*•]|\d+[.)])\s+(.+)", bare)
        heading = _HEADING.fullmatch(bare)
        if lines and (not bare or heading or point):
            yield section, " ".join(lines)
            lines = []
        if heading:
            section = (heading["hash"] or heading["bold"]).strip(" *:")
        elif bare and bare.strip("-*_ "):
            lines.append(point[1] if point else bare)
