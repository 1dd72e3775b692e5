"""What a caller passes to `add`, as an `Episode`: cleaned, masked, dated; nothing dropped without a word."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from math import isfinite
from typing import cast

from lukasa.errors import InputError, MessageError, Unsupported
from lukasa.messages.redact import Masked, Redactor
from lukasa.text.clean import clean
from lukasa.text.shown import shown
from lukasa.text.times import isoformat, parse_day, parse_local_time
from lukasa.types import Episode, JsonValue, Message, Scope

ROLES = ("user", "assistant", "system", "developer", "tool", "function")
INSTRUCTING = ("system", "developer")  # what they say is kept, not remembered
_TEXT_PARTS = ("text", "input_text", "output_text")
_MEDIA_PARTS = frozenset(
    {
        *("audio", "audio_url", "input_audio"),
        *("image", "image_url", "input_image"),
        *("video", "video_url", "input_video"),
        *("document", "file", "input_file", "mdx_url", "pdf", "pdf_url"),
    }
)
# Names of the point in time at which a message was said, the most exact first.
_TIMES = ("said_at", "timestamp", "created_at")
_UNDERSTOOD = frozenset({"role", "content", "name", *_TIMES})
# Handles of a protocol: they say nothing, and nobody misses them.
_HANDLES = frozenset({"id", "type", "object", "index", "status", "tool_call_id", "call_id"})
_KNOWN = _UNDERSTOOD | _HANDLES
# A turn that only calls tools may come without content.
_CALLS = frozenset({"tool_calls", "function_call"})
# These name a scope or an author; in metadata they would move a memory to another one.
_IDENTITY = ("user_id", "agent_id", "run_id", "app_id", "actor_id", "role")
_DEEPEST = 64
_LONGEST_PLACE = 200  # characters of a path that an error or a warning shows
_MOST_BITS = 4096  # of an int in metadata: Python reads no number of more than 4,300 digits
_ACCEPTED = "a text, a message {'role': ..., 'content': ...}, or a list of them"
_CANONICAL = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(slots=True)
class Reading:
    """One call being read: how texts are masked, and what the caller must be told."""

    redactor: Redactor
    warnings: list[str] = field(default_factory=list[str])

    def text(self, value: str, place: str) -> str:
        """*value* cleaned and masked; what was masked is told as a warning about *place*."""
        return self._told(self.redactor.mask(clean(value)), place)

    def named(self, name: str, value: str, place: str) -> str:
        """The same for the value of a field, which its *name* may make a secret."""
        return self._told(self.redactor.mask_field(name, clean(value)), place)

    def number(self, name: str, value: float, place: str) -> float | str:
        """*value*, or the mask of the secret that it is."""
        masked = self.redactor.mask_number(name, str(value))
        return self._told(masked, place) if masked.kinds else value

    def _told(self, masked: Masked, place: str) -> str:
        for kind, count in Counter(masked.kinds).items():
            self.warnings.append(f"masked {count} {kind}{'s' if count > 1 else ''} in {place}")
        return clean(masked.text) if masked.kinds else masked.text


def normalize(
    messages: object,
    *,
    scope: Scope,
    now: datetime,
    redactor: Redactor,
    metadata: object = None,
    timestamp: datetime | date | str | float | None = None,
    expiration_date: date | str | None = None,
    idempotency_key: str | None = None,
) -> Episode:
    """The episode that *messages* are: a text, a message, or a list of both; objects of SDKs as well.

    A message is dated by its own `said_at`, `timestamp` or `created_at`, else by *timestamp*, else by
    *now*, each in the zone that it names. The request's digest leaves *now* out: a retry has the same one.
    Raises `MessageError` or `InputError`, naming the place and what is accepted, and `Unsupported` for
    images, audio and files.
    """
    reading = Reading(redactor)
    default = None if timestamp is None else parse_local_time(timestamp, what="timestamp")
    said = [_message(item, place, reading) for item, place in _items(messages)]
    dated = [(message, message.said_at or default) for message in said if message is not None]
    if not dated:
        raise MessageError(_nothing(reading.warnings))
    kept = read_metadata(metadata, reading)
    expires_on = None if expiration_date is None else parse_day(expiration_date, what="expiration_date")
    request = {
        "scope": dict(scope.ids()),
        "messages": [[m.role, m.text, m.name, at and isoformat(at)] for m, at in dated],
        "metadata": kept,
        "expires_on": expires_on and expires_on.isoformat(),
        "extra": {},  # every digest that is stored has it
    }
    started = parse_local_time(now, what="now")
    if all(message.role in INSTRUCTING for message, _ in dated):
        reading.warnings.append("only system turns: they instruct, so no memory is made of them")
    if expires_on is not None and expires_on < started.astimezone(UTC).date():
        reading.warnings.append(f"expiration_date {expires_on} is past: no read shows it unless show_expired")
    return Episode(
        scope=scope,
        messages=tuple(Message(m.role, m.text, m.name, at or started) for m, at in dated),
        metadata=kept,
        expires_on=expires_on,
        idempotency_key=_key_digest(idempotency_key),
        request=sha256(_CANONICAL.encode(request).encode()).digest(),
        warnings=tuple(reading.warnings),
    )


def _nothing(warnings: Sequence[str]) -> str:
    reason = f" ({'; '.join(warnings[:3])})" if warnings else ""
    return f"messages hold no text{reason}; give {_ACCEPTED}"


def _key_digest(key: object) -> bytes | None:
    if key is None:
        return None
    if not isinstance(key, str) or not key.strip():
        raise InputError("idempotency_key must be a text that is not blank; leave it out where there is none")
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


# --- messages


def _items(messages: object) -> list[tuple[object, str]]:
    if isinstance(messages, list | tuple):
        sequence = cast(Sequence[object], messages)
        return [(item, f"messages[{position}]") for position, item in enumerate(sequence)]
    return [(messages, "messages[0]" if isinstance(messages, str | Mapping) else "messages")]


def _message(item: object, place: str, reading: Reading) -> Message | None:
    if isinstance(item, str):
        item = {"content": item}
    given = _as_mapping(item, place)
    role = _role(given, place)
    name = given.get("name")
    if name is not None and not isinstance(name, str):
        raise MessageError(f"{place}.name must be a text, not {type(name).__name__}")
    content = _content(given.get("content"), role, place, reading)
    lost = [key for key in given if key not in _KNOWN and given[key] not in (None, "", [], {})]
    reading.warnings.extend(f"{place}.{_key(key, reading)} is not stored" for key in lost)
    text = None if content is None else reading.text(content, place)
    if text is None or not text.strip():
        if text is not None:
            reading.warnings.append(f"{place} is empty and was skipped")
        return None
    at = next((key for key in _TIMES if given.get(key) is not None), None)
    return Message(
        role=role,
        text=text,
        name=(reading.text(name, f"{place}.name").strip() or None) if name else None,
        said_at=None if at is None else parse_local_time(cast(str, given[at]), what=f"{place}.{at}"),
    )


def _key(key: str, reading: Reading) -> str:
    """A key that nobody knows, for a warning: it may be anything, and the receipt is kept."""
    return reading.redactor.mask(clean(key)).text[:60]


def _as_mapping(item: object, place: str) -> Mapping[str, object]:
    if isinstance(item, Mapping):
        found = cast(Mapping[object, object], item)
    elif callable(dump := getattr(item, "model_dump", None)):
        found = cast(Mapping[object, object], dump())
    elif hasattr(item, "role") and hasattr(item, "content"):
        found = {
            key: getattr(item, key) for key in ("role", "content", "name", *_TIMES) if hasattr(item, key)
        }
    else:
        raise MessageError(f"{place} is {_named(item)}; accepted: {_ACCEPTED}")
    has_content = "content" in found or not _CALLS.isdisjoint(found)
    if not has_content or not all(isinstance(key, str) for key in found):
        raise MessageError(f"{place} has no 'content'; accepted: {_ACCEPTED}")
    return cast(Mapping[str, object], found)


def _role(given: Mapping[str, object], place: str) -> str:
    if "role" not in given and not (given.keys() - _UNDERSTOOD):
        return "user"
    role = given.get("role")
    if isinstance(role, str) and role in ROLES:
        return ROLES[ROLES.index(role)]  # an Enum of texts would print its own name
    problem = "is missing" if "role" not in given else f"is {shown(role)}"
    raise MessageError(f"{place}.role {problem}; accepted: {', '.join(ROLES)}")


def _content(content: object, role: str, place: str, reading: Reading) -> str | None:
    """The text of a message; None, with a warning, where there is none."""
    match content:
        case str():
            text = content
        case None:
            reading.warnings.append(f"{place} ({role}) has no content and was skipped")
            return None
        case Mapping():
            text = _part(cast(object, content), f"{place}.content", reading)
        case list() | tuple():
            parts = enumerate(cast(Sequence[object], content))
            found = [_part(part, f"{place}.content[{position}]", reading) for position, part in parts]
            texts = [part for part in found if part is not None]
            text = "\n".join(texts) if texts or not found else None
        case _:
            raise MessageError(
                f"{place}.content is {_named(content)}; accepted: a text, or a list of parts "
                "{'type': 'text', 'text': ...}"
            )
    if text is None:
        reading.warnings.append(f"{place} holds no text and was skipped")
    return text


def _part(part: object, place: str, reading: Reading) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) and callable(dump := getattr(part, "model_dump", None)):
        part = dump()
    given: Mapping[str, object] = cast(Mapping[str, object], part) if isinstance(part, Mapping) else {}
    kind = given.get("type")
    if kind in _TEXT_PARTS and isinstance(text := given.get("text"), str):
        return text
    if isinstance(kind, str) and kind in _MEDIA_PARTS:
        raise Unsupported(
            f"{place} is a part of type {kind!r}: only text can be remembered; nothing was stored"
        )
    problem = f"has type {shown(kind)}" if isinstance(part, Mapping) else f"is {_named(part)}"
    raise MessageError(
        f"{place} {problem}; accepted: {', '.join(_TEXT_PARTS)}, each with a text under 'text'"
    )


def _named(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


# --- metadata


def read_metadata(metadata: object, reading: Reading) -> dict[str, JsonValue]:
    """*metadata* as plain JSON, cleaned and masked; keys that name a scope or an author are left out."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InputError(f"metadata must be a mapping with text keys, not {type(metadata).__name__}")
    given = cast(Mapping[object, object], metadata)
    for key in _IDENTITY:
        if key in given:
            reading.warnings.append(
                f"metadata.{key} was ignored: it names a scope or an author; pass it as an argument"
            )
    kept = {key: value for key, value in given.items() if key not in _IDENTITY}
    return _Json(reading).mapping(kept, "metadata")


@dataclass(slots=True)
class _Json:
    """Plain JSON from what a caller gave, its texts cleaned and masked."""

    reading: Reading
    depth: int = 0

    def mapping(self, given: Mapping[object, object], path: str, within: str = "") -> dict[str, JsonValue]:
        """*within* names what holds it: where that is a secret, so is all of it."""
        inherits = self.reading.redactor.is_secret(within)
        found: dict[str, JsonValue] = {}
        for key, value in given.items():
            if not isinstance(key, str):
                raise InputError(f"{path} has the key {shown(key)}; keys must be texts")
            name = clean(key)
            if name in found:
                raise InputError(f"{path} has the key {shown(name)} twice; they differ by control characters")
            called = within if inherits and not self.reading.redactor.is_secret(name) else name
            found[name] = self.value(value, f"{path}.{name}"[:_LONGEST_PLACE], called)
        return found

    def value(self, value: object, path: str, name: str) -> JsonValue:
        match value:
            case None | bool():
                return value
            case str():
                return self.reading.named(name, value, path)
            case int() | float():
                return self.reading.number(name, self._number(value, path), path)
            case datetime():
                return self._time(value, path)
            case date():
                return value.isoformat()
            case Mapping() | list() | tuple():
                return self._nested(cast("Mapping[object, object] | Sequence[object]", value), path, name)
            case _:
                raise InputError(
                    f"{path} is of type {type(value).__name__}; accepted: texts, numbers, booleans, None, "
                    "dates, and lists and mappings of these"
                )

    @staticmethod
    def _time(value: datetime, path: str) -> str:
        try:
            return isoformat(value)
        except OverflowError as error:
            raise InputError(f"{path} is {shown(value)}; times are of the years 1 to 9999, UTC") from error

    @staticmethod
    def _number(value: float, path: str) -> float:
        if isinstance(value, int):
            if value.bit_length() > _MOST_BITS:
                raise InputError(f"{path} is an int of {value.bit_length():,} bits; give it as a text")
            return int(value)
        if not isfinite(value):
            raise InputError(f"{path} is {value}; JSON has no such number")
        return float(value)

    def _nested(self, value: Mapping[object, object] | Sequence[object], path: str, name: str) -> JsonValue:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise InputError(f"{path} is nested deeper than {_DEEPEST} levels, or holds itself")
        if isinstance(value, Mapping):
            found: JsonValue = self.mapping(value, path, name)
        else:
            found = [self.value(item, f"{path}[{position}]", name) for position, item in enumerate(value)]
        self.depth -= 1
        return found
