"""What a line of a copy must be, whoever wrote it: whatever a ledger reads later, it must be able to read."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Final, Literal, NoReturn, Self, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator

from lukasa.ledger.sqlite.add import md5
from lukasa.text.clean import clean
from lukasa.text.ids import an_id
from lukasa.types import Event, Kind, ScopeKind, State, Trust

_DEEPEST: Final = 64  # as `add` takes it
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of the years 1 to 9999, since 1970
_DAY: Final = 86_400_000_000


def _clean(text: str) -> str:
    if clean(text) != text:
        raise ValueError("holds control characters")
    return text


def _base64(text: str) -> str:
    base64.b64decode(text, validate=True)
    return text


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"JSON has no {constant}")


def _json(text: str) -> object:
    try:
        value = cast("object", json.loads(text, parse_constant=_refuse))
    except RecursionError as error:
        raise ValueError(f"nested deeper than {_DEEPEST} levels") from error
    _readable(value, 0)
    return value


def _readable(value: object, depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError(f"nested deeper than {_DEEPEST} levels")
    match value:
        case str():
            _clean(value)
        case float() if not isfinite(value):
            raise ValueError("a number that is not finite")
        case dict():
            for name, one in cast("Mapping[str, object]", value).items():
                _clean(name)
                _readable(one, depth + 1)
        case list():
            for one in cast("Sequence[object]", value):
                _readable(one, depth + 1)
        case _:
            pass


def _json_object(text: str) -> str:
    if not isinstance(_json(text), dict):
        raise ValueError("not a JSON object")  # noqa: TRY004  # what pydantic takes for a finding
    return text


def _json_texts(text: str) -> str:
    found = _json(text)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in cast("list[object]", found)):
        raise ValueError("not a JSON array of texts")
    return text


Text = Annotated[str, AfterValidator(_clean)]
Name = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_clean)]
Uid = Annotated[str, Field(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\z")]
Base64 = Annotated[str, AfterValidator(_base64)]
JsonObject = Annotated[str, AfterValidator(_json_object)]
JsonTexts = Annotated[str, AfterValidator(_json_texts)]
Flag = Annotated[int, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, lt=1 << 31)]
Time = Annotated[int, Field(ge=_FIRST_DAY * _DAY, lt=(_LAST_DAY + 1) * _DAY)]
Day = Annotated[int, Field(ge=_FIRST_DAY, le=_LAST_DAY)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Head(_Line):
    """The first line; `model` is a name and a dimension."""

    lukasa_export: int
    schema_: Count | None = Field(default=None, alias="schema")
    model: Annotated[tuple[Name, Annotated[int, Field(gt=0, lt=1 << 20)]], Strict(strict=False)] | None = None


class _Owned(_Line):
    uid: Uid
    ids: dict[ScopeKind, str]

    @model_validator(mode="after")
    def _names_somebody(self) -> Self:
        if not self.ids:
            raise ValueError("its ids name nobody")
        for kind, name in self.ids.items():
            an_id(kind, name)
        return self


class MessageLine(_Line):
    """One message of an episode."""

    position: Count
    role: Name
    name: Text | None = None
    text: Text
    said_at: Time
    erased: Flag = 0
    turn: Annotated[int, Field(ge=-1, le=1)] | None = None  # whether it can be found by itself


class EpisodeLine(_Owned):
    """What was said."""

    status: Literal["pending", "extracted", "failed"]
    attempts: Count = 0
    error: Text | None = None
    idempotency_key: Base64 | None = None
    request: Base64
    receipt: JsonObject | None = None
    recorded_at: Time
    messages: list[MessageLine]

    @model_validator(mode="after")
    def _answers_a_replay(self) -> Self:
        if self.idempotency_key is not None and self.receipt is None:
            raise ValueError("an idempotency key without a receipt")
        return self


class VersionLine(_Line):
    """One event of a memory; `item` is the place of its text among the memory's items."""

    number: Annotated[Count, Field(ge=1)]
    event: Event
    text: Text | None = None
    hash: str | None = None
    metadata: JsonObject
    categories: JsonTexts
    role: Text | None = None
    actor_id: Text | None = None
    attributed_to: Text | None = None
    subject: Text | None = None
    attribute: Text | None = None
    importance: Number | None = None
    confidence: Number | None = None
    event_from: Time | None = None
    event_to: Time | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    recorded_at: Time
    retired_at: Time | None = None
    reason: Text | None = None
    extractor: Text | None = None
    model: Text | None = None
    item: Count | None = None
    sources: list[Annotated[tuple[Uid, Count, Count, Count, Trust], Strict(strict=False)]]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.text is None) != (self.item is None):
            raise ValueError("a text without an item, or an item without a text")
        if self.hash != (None if self.text is None else md5(self.text)):
            raise ValueError("a text that its hash does not belong to")
        if self.event == "ADD" and self.extractor is not None and not self.sources:
            raise ValueError("a text that was taken from what was said, and names no source")
        if any(end < start for _, _, start, end, _ in self.sources):
            raise ValueError("a source that ends before it begins")
        return self


class ItemLine(_Line):
    """What can be searched: 1 for the current text, 0 for a past one, -1 for one that is gone."""

    state: Annotated[int, Field(ge=-1, le=1)]
    vector: Base64 | None = None


class MemoryLine(_Owned):
    """A memory with its versions, `current` being the number of the one that holds."""

    kind: Kind
    state: State
    dedupe_key: Base64
    pinned: Flag = 0
    immutable: Flag = 0
    expires_on: Day | None = None
    accesses: Count = 0
    accessed_at: Time | None = None
    stability: Number | None = None
    created_at: Time
    updated_at: Time
    current: Count
    items: list[ItemLine]
    versions: list[VersionLine]

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if sorted(one.number for one in self.versions) != list(range(1, len(self.versions) + 1)):
            raise ValueError("versions whose numbers are not 1, 2, 3 …")
        told = {one.number: one for one in self.versions if one.item is not None}
        if not told or self.current != max(told):
            raise ValueError("its current version is not the last one with a text")
        texts: list[set[str | None]] = [set() for _ in self.items]
        for one in told.values():
            if cast("int", one.item) >= len(texts):
                raise ValueError(f"an item that is not there: {one.item}")
            texts[cast("int", one.item)].add(one.text)
            holds = one.number == self.current and self.state not in ("retracted", "superseded")
            if (one.retired_at is None) != holds:
                raise ValueError(f"version {one.number} is retired where it should not be, or is not")
        if any(len(held) != 1 for held in texts):
            raise ValueError("an item of no text, or of several")
        for place, item in enumerate(self.items):
            wanted = -1 if self.state == "retracted" else int(place == told[self.current].item)
            if item.state != wanted or (wanted < 0 and item.vector is not None):
                raise ValueError(f"item {place} is current, past or gone where it should not be")
        return self


class LinkLine(_Line):
    """What one memory is to another."""

    origin: Uid
    target: Uid
    kind: Literal["supersedes", "merged_from", "related"]
    recorded_at: Time


_LINES: Final[Mapping[str, type[_Line]]] = {
    "episode": EpisodeLine,
    "memory": MemoryLine,
    "link": LinkLine,
}


def problem(kind: str, value: object) -> str | None:
    """What is wrong with the *value* of a line of this *kind*; None where nothing is."""
    return _problem(_LINES[kind], value)


def head_problem(value: object) -> str | None:
    """The same of the first line."""
    return _problem(Head, value)


def _problem(model: type[_Line], value: object) -> str | None:
    try:
        model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = clean(".".join(map(str, first["loc"]))[:100])
        return f"{place}: {first['msg']}" if place else first["msg"]
    return None
