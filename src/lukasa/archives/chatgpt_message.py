"""One message of ChatGPT's export: what was said in it, or why it is no speech."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from lukasa.archives.base import Time
from lukasa.archives.values import list_of, mapping_of, text_of, time_of

_REASONING: Final = ("thoughts", "reasoning_recap")
_SPOKEN: Final = ("text", "multimodal_text", "code")
# Marks that ChatGPT draws as links and cards: U+E200 begins one, U+E202 parts it, U+E201 ends it.
_MARK: Final = re.compile("[ \t]*\ue200(?P<kind>[a-z_]*)\ue202?(?P<body>[^\ue200\ue201]*)\ue201")
_STRAY: Final = re.compile("[ \t]*\ue202turn\\d+[a-z]+\\d+|[\ue200-\ue2ff]")
_MARKS: Final = "\ue200\ue201\ue202\ue203\ue204\ue206†"
_FOOTNOTE: Final = re.compile(r"[ \t]*【\d+(?::\d+)?†[^】]*】")
_LISTED: Final = re.compile(r"^\s*\d+\.\s*(?:\[(?P<day>\d{4}-\d\d-\d\d)\]\.?\s*)?(?P<text>\S.*)$")


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says; without a role nobody said it. `saved_as` tells where a memory was written."""

    role: str = ""
    text: str = ""
    at: Time | None = None
    saved_as: str = ""  # "bio": a memory; "list": all of them


def read_message(message: Mapping[str, object], left: Counter[str]) -> Said:
    """What *message* says; what it holds besides speech is counted in *left*."""
    author, content = mapping_of(message.get("author")), mapping_of(message.get("content"))
    metadata = mapping_of(message.get("metadata"))
    role, kind = author.get("role"), content.get("content_type")
    at = time_of(message.get("create_time"))
    if kind == "user_editable_context" or metadata.get("is_user_system_message") is True:
        text = _instructions(content, metadata)
        return Said("system", text, at) if text else Said()
    if kind == "model_editable_context":
        return Said(text=text_of(content.get("model_set_context")), at=at, saved_as="list")
    if role == "system" or metadata.get("is_visually_hidden_from_conversation") is True:
        return Said()
    if kind in _REASONING or message.get("channel") == "analysis":
        left["thoughts"] += 1
        return Said()
    if role == "tool":
        return _tool(content, author, at, left)
    if role not in ("user", "assistant"):
        left[f"messages of the role {role!r:.40}"] += 1
        return Said()
    if message.get("recipient") not in (None, "", "all"):
        return _call(message, content, at, left)
    return _spoken(cast("str", role), content, metadata, at, left)


def _spoken(
    role: str,
    content: Mapping[str, object],
    metadata: Mapping[str, object],
    at: Time | None,
    left: Counter[str],
) -> Said:
    if content.get("content_type") not in _SPOKEN:
        left[f"messages of the type {content.get('content_type')!r:.40}"] += 1
        return Said()
    for file in list_of(metadata.get("attachments")):
        if not text_of(mapping_of(file).get("mime_type")).startswith("image/"):  # images stand in the parts
            left["files"] += 1
    before = left.total()
    text = plain(_text(content, left)).strip()
    if text:
        return Said(role, text, at)
    left["empty messages"] += left.total() == before
    return Said()


def _tool(
    content: Mapping[str, object], author: Mapping[str, object], at: Time | None, left: Counter[str]
) -> Said:
    text = text_of(content.get("text"))
    if content.get("content_type") == "execution_output" and text:
        return Said("tool", text.strip(), at)
    if author.get("name") != "bio":
        left["results of tools"] += 1
        _text(content, left)  # the images in them
    return Said()


def _call(
    message: Mapping[str, object], content: Mapping[str, object], at: Time | None, left: Counter[str]
) -> Said:
    if message.get("recipient") == "bio":
        text = _text(content, Counter()).strip()
        return Said() if text.lower().startswith("forget") else Said(text=text, at=at, saved_as="bio")
    left["calls of tools"] += 1
    return Said()


def saved(said: Said) -> Iterator[tuple[str, Time | None]]:
    """The memories that a message wrote, each with its time."""
    lines = [line.strip() for line in said.text.splitlines() if line.strip()] if said.saved_as else []
    for line in lines:
        listed = _LISTED.match(line) if said.saved_as == "list" else None
        if listed is not None:
            yield listed["text"], listed["day"]
        elif said.saved_as == "bio":
            yield line, said.at


def _text(content: Mapping[str, object], left: Counter[str]) -> str:
    """The texts of *content*; pictures and sounds among them are counted."""
    texts = [text_of(content.get("text"))]
    for part in list_of(content.get("parts")):
        if isinstance(part, str):
            texts.append(part)
            continue
        given = mapping_of(part)
        kind = text_of(given.get("content_type"))
        if "image" in kind:
            left["images"] += 1
        elif "asset_pointer" in kind:
            left["recordings"] += 1
        else:
            texts.append(text_of(given.get("text")))  # "audio_transcription" is what was said aloud
    return "\n".join(text for text in texts if text.strip())


def plain(text: str) -> str:
    """*text* without the marks of citations; the names that marks stand for stay."""
    if not any(mark in text for mark in _MARKS):
        return text
    return _FOOTNOTE.sub("", _STRAY.sub("", _MARK.sub(_named, text)))


def _named(mark: re.Match[str]) -> str:
    kind, body = mark["kind"], mark["body"]
    lead = mark[0][: len(mark[0]) - len(mark[0].lstrip(" \t"))]
    if kind == "url":
        return lead + body.partition("\ue202")[0]
    if kind != "entity":
        return ""
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        return lead + body
    names = [name for name in list_of(found) if isinstance(name, str)]
    return lead + (names[1] if len(names) > 1 else "".join(names))


def _instructions(content: Mapping[str, object], metadata: Mapping[str, object]) -> str:
    """The user's custom instructions, as they were written where that is there, else in ChatGPT's words."""
    own = mapping_of(metadata.get("user_context_message_data"))
    texts = [text_of(own.get("about_user_message")), text_of(own.get("about_model_message"))]
    if not any(texts):
        texts = [text_of(content.get("user_profile")), text_of(content.get("user_instructions"))]
    if not any(texts):
        texts = [_text(content, Counter())]
    return "\n\n".join(text.strip() for text in texts if text.strip())
