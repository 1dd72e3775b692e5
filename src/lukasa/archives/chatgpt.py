"""OpenAI's export of ChatGPT: a tree of messages for each conversation, of which one branch was the talk.

The form is not published. What is known of it comes from what the export's own `chat.html` reads and from the
readers that others have written; docs/ingest.md says what is taken and what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final, cast

from lukasa.archives.base import Advance, Conversation, Entries, Kept, Left, Problem, Time
from lukasa.archives.chatgpt_message import Said, read_message, saved
from lukasa.archives.files import Member, named
from lukasa.archives.json_files import objects
from lukasa.archives.values import mapping_of, text_of, time_of

CONVERSATIONS: Final = r"conversations(-\d+)?\.json"


def read(found: list[Member], advance: Advance) -> Entries:
    """The conversations of an export, and what ChatGPT saved as memories in them."""
    seen: set[bytes] = set()  # the list of memories stands in every conversation again
    for member in named(found, CONVERSATIONS) or found:
        for place, entry in objects(member, advance):
            if isinstance(entry, Problem):
                yield entry
            else:
                yield from _conversation(entry, place, seen)


def _conversation(given: Mapping[str, object], place: str, seen: set[bytes]) -> Entries:
    mapping, key = given.get("mapping"), _key(given)
    if not isinstance(mapping, dict) or not key:
        yield Problem(place, "not a conversation of ChatGPT: it has no 'mapping', or no id")
        return
    if given.get("is_do_not_remember") is True:
        yield Left("conversations that were not to be remembered")
        return
    title = text_of(given.get("title"))
    where = f"conversation {title or key!r:.80}"
    left: Counter[str] = Counter()
    said = [read_message(message, left) for message in branch(cast("Mapping[str, object]", mapping), given)]
    messages = tuple(_dated([one for one in said if one.role], time_of(given.get("create_time"))))
    if any(message["role"] in ("user", "assistant") for message in messages):
        yield Conversation(
            key=key,
            messages=messages,
            where=where,
            title=title or None,
            metadata={"source": "chatgpt", "conversation_id": key, **({"title": title} if title else {})},
            timestamp=time_of(given.get("create_time")),
        )
    else:
        left["conversations without a word"] += 1
    for one in said:
        yield from _kept(one, where, key, seen)
    yield from (Left(what, count) for what, count in left.items() if count)


def _key(given: Mapping[str, object]) -> str:
    return text_of(given.get("conversation_id")) or text_of(given.get("id"))


def branch(mapping: Mapping[str, object], given: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The messages from the root to the node where the conversation stood, or else to the newest leaf.

    The other branches were regenerated or edited away.
    """
    nodes = {
        key: cast("Mapping[str, object]", node) for key, node in mapping.items() if isinstance(node, dict)
    }
    at = given.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        at = _newest_leaf(nodes)
    path: list[Mapping[str, object]] = []
    passed: set[str] = set()
    while isinstance(at, str) and at in nodes and at not in passed:
        passed.add(at)
        message = nodes[at].get("message")
        if isinstance(message, dict):
            path.append(cast("Mapping[str, object]", message))
        at = nodes[at].get("parent")
    return path[::-1]


def _newest_leaf(nodes: Mapping[str, Mapping[str, object]]) -> str | None:
    parents = {node.get("parent") for node in nodes.values() if isinstance(node.get("parent"), str)}
    leaves = [key for key in nodes if key not in parents]
    return max(leaves, key=lambda key: _made(nodes[key]), default=None)


def _made(node: Mapping[str, object]) -> float:
    time = mapping_of(node.get("message")).get("create_time")
    return float(time) if isinstance(time, int | float) else 0.0


def _dated(said: list[Said], begun: Time | None) -> Iterator[dict[str, object]]:
    """The messages as `add` takes them; one without a time was said when the one before it was."""
    at = begun
    for one in said:
        at = at if one.at is None else one.at
        message: dict[str, object] = {"role": one.role, "content": one.text}
        yield message if at is None else {**message, "timestamp": at}


def _kept(said: Said, where: str, conversation: str, seen: set[bytes]) -> Iterator[Kept]:
    for text, at in saved(said):
        digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
        if digest not in seen:
            seen.add(digest)
            yield Kept(
                key=digest.hex()[:32],
                text=text,
                where=where,
                metadata={"conversation_id": conversation},
                created_at=at,
                attributed_to="assistant",
            )
