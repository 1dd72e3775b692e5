"""The offline extractor: which clauses of a conversation are worth keeping, written close to what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from lukasa.claims.read import claims
from lukasa.extract.base import Dropped, Extracted
from lukasa.extract.rules.base import REASONS, Language, Reason, Speaker
from lukasa.extract.rules.correct import corrected
from lukasa.extract.rules.languages import language_of
from lukasa.extract.rules.people import Person, mentioned, resolved
from lukasa.extract.rules.turns import Own, masked_quotes, own_words
from lukasa.text.days import When, dated
from lukasa.text.sentences import sentences
from lukasa.text.tokens import query_words
from lukasa.types import Episode, Fact, Kind, Message, Source, Trust

NAME: Final = "rules"
_WORTH_A_LOOK: Final = 1.0  # from this weight on, a claim that is recognised decides
_CONTENT: Final = 2  # words that mean something, which a fact has at least
_ENDS: Final = (*".!?。！？…",)
_LONGEST: Final = 1000  # characters of a sentence
_HEAD: Final = 4000  # characters of a turn that tell whether it is played
_DETAIL: Final = 12
_SHORT, _GAP = 4, 3  # words; characters between two clauses of a sentence
_SHOWN: Final = 120  # characters of what was dropped


@dataclass(slots=True)
class Clause:
    """A clause on its way to become a fact."""

    text: str
    start: int
    end: int
    message: int
    language: Language
    speaker: Speaker
    said_at: datetime
    plain: str = ""  # the text with quotations blanked: what is judged
    listed: bool = False
    score: float = 0.0
    features: frozenset[str] = frozenset()
    more_sources: tuple[Source, ...] = ()
    more: list[Clause] = field(default_factory=list["Clause"])  # what goes on with "it"


@dataclass(slots=True)
class Reading:
    """One episode being read."""

    episode: Episode
    kept: list[Clause] = field(default_factory=list[Clause])
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    notes: bool = False  # nobody is spoken to: whatever is stated was meant to be kept
    role_play: bool = False
    mocking: bool = False  # the turn before was not meant as said
    before: Clause | None = None  # what was dropped last, where it may go with what follows

    def drop(self, text: str, reason: Reason, message: int) -> None:
        """Note what was left out, shortened."""
        short = text.strip()
        shown = short if len(short) <= _SHOWN else f"{short[: _SHOWN - 1]}…"
        self.dropped.append(Dropped(shown, REASONS[reason], message))


def extract(episode: Episode) -> Extracted:
    """What is worth keeping of *episode*: of the users' turns, or of the agent's in a memory of its own."""
    roles = {message.role for message in episode.messages}
    for_the_agent = episode.scope.agent_id is not None and episode.scope.user_id is None
    role = "assistant" if for_the_agent and "assistant" in roles else "user"
    reading = Reading(episode, notes=role == "assistant" and "user" not in roles)
    for position, message in enumerate(episode.messages):
        if message.role == role:
            _read_turn(reading, position, message)
    facts = [fact for clause in reading.kept if (fact := _fact(reading, clause)) is not None]
    return Extracted(tuple(facts), tuple(reading.dropped))


def _read_turn(reading: Reading, position: int, message: Message) -> None:
    language = language_of(message.text)
    if language is None:
        reading.drop(message.text, "language", position)
        return
    turn = language.turn_features(message.text[:_HEAD])
    reading.role_play = ("role-play" in turn) or (reading.role_play and "role-play ends" not in turn)
    mocking = "sarcasm" in turn or (reading.mocking and "gushing" in turn)
    reading.mocking = mocking
    if reading.role_play or mocking:
        reading.drop(message.text, "role-play" if reading.role_play else "sarcasm", position)
        return
    own, foreign = own_words(message.text, language)
    for stretch in foreign:
        reading.drop(stretch.text, stretch.reason, position)
    people: list[Person] = []
    speaker = _speaker(message, language)
    for clause in _clauses(own, position, message, language, speaker, notes=reading.notes):
        _judge(reading, clause, people)


def _speaker(message: Message, language: Language) -> Speaker:
    if message.role == "assistant":
        return Speaker(message.name or language.agent_label, named=bool(message.name), agent=True)
    return Speaker(message.name or language.label, named=bool(message.name))


def _clauses(
    own: Sequence[Own],
    position: int,
    message: Message,
    language: Language,
    speaker: Speaker,
    *,
    notes: bool,
) -> Iterator[Clause]:
    said_at = message.said_at or datetime.now(UTC)
    for stretch in own:
        masked = masked_quotes(stretch.text)
        for start, end, before in _pieces(stretch, masked, language, whole=notes):
            text = stretch.text[start:end].strip()
            if text:
                first, last = min(stretch.start + start, stretch.end), min(stretch.start + end, stretch.end)
                yield Clause(
                    text=f"{before}{text}",
                    plain=f"{before}{masked[start:end].strip()}",
                    start=first,
                    end=last,
                    message=position,
                    language=language,
                    speaker=speaker,
                    said_at=said_at,
                    listed=stretch.listed,
                )


def _pieces(stretch: Own, masked: str, language: Language, *, whole: bool) -> Iterator[tuple[int, int, str]]:
    if stretch.listed:
        yield 0, len(stretch.text), ""
        return
    for first, last in sentences(masked, language.code):
        if last - first > _LONGEST:  # no sentence: a table, a log, a wall of text
            continue
        if whole:
            yield first, last, ""
            continue
        for start, end, before in language.split(masked[first:last]):
            yield first + start, first + end, before


def _judge(reading: Reading, clause: Clause, people: list[Person]) -> None:
    """Keep the clause, drop it with a reason, or let it correct or go on with one that was kept."""
    language = clause.language
    size = language.size(language.strip(clause.plain))
    clause.features = language.features(clause.plain)
    if "correction" in clause.features and _correct(reading, clause):
        return
    reason = _refused(clause, size) or (None if reading.notes else _unpromising(clause))
    if reason is not None:
        if reason == "question" and _states(reading, clause, people):
            return
        if not _detail(reading, clause, reason):
            reading.drop(clause.text, reason, clause.message)
        reading.before = clause if reason == "nothing lasting" else None
        return
    if size <= _SHORT:
        _with_context(reading, clause)
    reading.before = None
    clause.text = resolved(clause.text, people, language.code)
    people[:] = mentioned(clause.text, language.code) or people
    if "dependent" in clause.features and "name" not in clause.features:
        if reading.kept and reading.kept[-1].message == clause.message:
            reading.kept[-1].more.append(clause)
            return
        if clause.score < language.needed or not _PERSON.match(clause.plain):
            reading.drop(clause.text, "nothing lasting", clause.message)
            return
    reading.kept.append(clause)


def _states(reading: Reading, clause: Clause, people: list[Person]) -> bool:
    """Judge the parts of a question: "we run Postgres 16, staging is on 14, could that be it?" says two things."""
    parts = [match.span() for match in _PARTS.finditer(clause.plain)]
    if len(parts) < 2 or len(clause.plain) != len(clause.text):
        return False
    for start, end in parts:
        part = replace(
            clause,
            text=clause.text[start:end].strip(),
            plain=clause.plain[start:end].strip(),
            start=clause.start + start,
            end=clause.start + end,
        )
        if end == len(clause.plain) and clause.plain.rstrip().endswith(("?", "？")):
            reading.drop(part.text, "question", clause.message)
        else:
            _judge(reading, part, people)
    return True


# Of "it" nobody knows later what it was; "they" are told by what they did.
_PERSON: Final = re.compile(r"\W*(?:(?:and|but|so|also)\s+)*(?:they|he|she|他|她)", re.IGNORECASE)
_PARTS: Final = re.compile(r"[^,，;；]+?(?=[,，;；]|\s+but\s|$)[,，;；]?(?:\s*but\s)?", re.IGNORECASE)


def _detail(reading: Reading, clause: Clause, reason: Reason) -> bool:
    """A figure that stands alone goes with what was kept just before it: "276 points, eighth of all"."""
    last = reading.kept[-1] if reading.kept else None
    if reason != "nothing lasting" or last is None or last.message != clause.message:
        return False
    if re.search(r"\d", clause.plain) is None or clause.features & {"first person", "to you", "code"}:
        return False
    if not 0 <= clause.start - _end(last) <= _GAP or clause.language.size(clause.text) > _DETAIL:
        return False
    last.more.append(clause)
    return True


def _end(clause: Clause) -> int:
    return max([clause.end, *(one.end for one in clause.more)])


def _with_context(reading: Reading, clause: Clause) -> None:
    """A short clause is understood with the one before it: "nobody use celery, I get hives"."""
    before = reading.before
    if before is None or before.message != clause.message or not 0 <= clause.start - before.end <= _GAP:
        return
    if before.text.rstrip()[-1:] in _ENDS:
        return
    reading.dropped.pop()
    clause.text, clause.start = f"{before.text.rstrip()}, {clause.text}", before.start


_REFUSALS: Final[Sequence[Reason]] = (*("secret", "small talk", "question", "hypothetical", "request"),)
# What was said to be remembered, or to hold from now on, may sound like a request or a passing thing.
_OVERRULED: Final = frozenset({"request"})
# They weigh against a clause, and name the reason where it falls.
_AGAINST: Final[Sequence[Reason]] = ("passing", "opinion")


def _refused(clause: Clause, size: int) -> Reason | None:
    standing = not clause.features.isdisjoint(("instruction", "remember", "introduces", "introduces myself"))
    if size < clause.language.least and not standing:
        return "small talk"
    for reason in _REFUSALS:
        if reason in clause.features and not (standing and reason in _OVERRULED):
            return reason
    return None


def _unpromising(clause: Clause) -> Reason | None:
    language = clause.language
    weights = language.weights
    clause.score = round(sum(weights.get(name, 0.0) for name in clause.features) + clause.listed, 3)
    if clause.score >= language.needed:
        return None
    if clause.score >= _WORTH_A_LOOK:
        text, _ = written(clause.text, clause.said_at, language, clause.speaker.label)
        if any(c.attribute != "toward" for c in claims(text, speaker=_name(clause.speaker))):
            return None
    for reason in _AGAINST:
        if reason in clause.features:
            return reason
    return "nothing lasting"


def _correct(reading: Reading, clause: Clause) -> bool:
    """Put what the clause corrects into the latest kept clause that has the like of it."""
    for at in range(len(reading.kept) - 1, max(-1, len(reading.kept) - 7), -1):
        earlier = reading.kept[at]
        if earlier.speaker.label != clause.speaker.label:
            continue
        mended = corrected(earlier.text, clause.text, clause.said_at, clause.language.code)
        if mended is not None:
            reading.drop(earlier.text, "corrected", earlier.message)
            source = Source(clause.message, clause.start, clause.end, _trust(clause))
            earlier.text = mended
            earlier.more_sources = (*earlier.more_sources, source)
            return True
    return False


def _name(speaker: Speaker) -> str | None:
    return speaker.label if speaker.named else None


def _trust(clause: Clause) -> Trust:
    return "agent" if clause.speaker.agent else "user"


def _fact(reading: Reading, clause: Clause) -> Fact | None:
    episode, (text, when) = reading.episode, _text(clause)
    found = claims(text, speaker=_name(clause.speaker))
    first = next(iter(found), None)
    if first is None and len(_meaning(text, clause)) < _CONTENT:
        reading.drop(clause.text, "nothing lasting", clause.message)
        return None
    return Fact(
        text=text,
        sources=_sources(clause),
        scope=episode.scope,
        metadata=episode.metadata,
        kind=_kind(clause, when),
        actor_id=_name(clause.speaker),
        attributed_to="assistant" if clause.speaker.agent else "user",
        expires_on=episode.expires_on,
        said_at=clause.said_at,
        extractor=NAME,
        dedupe_key=dedupe_key(text),
        subject=None if first is None else first.subject,
        attribute=None if first is None else first.attribute,
        importance=_importance(clause),
        confidence=min(0.9, 0.4 + 0.1 * clause.score),
        event_from=None if when is None else datetime.combine(when.start, datetime.min.time(), UTC),
        event_to=None if when is None else datetime.combine(when.end, datetime.min.time(), UTC),
    )


def _meaning(text: str, clause: Clause) -> set[str]:
    """The words of a written fact that mean something, without the speaker's own name."""
    names = {spellings[0] for spellings in query_words(clause.speaker.label)}
    return {spellings[0] for spellings in query_words(text)} - names


def _text(clause: Clause) -> tuple[str, When | None]:
    parts = [
        written(one.text, one.said_at, one.language, one.speaker.label) for one in (clause, *clause.more)
    ]
    joint = "" if clause.language.code == "zh" else " "
    return joint.join(text for text, _ in parts if text), next((when for _, when in parts if when), None)


def _sources(clause: Clause) -> tuple[Source, ...]:
    """The spans that it comes from; those that touch are one."""
    own = Source(clause.message, clause.start, clause.end, _trust(clause))
    more = [Source(one.message, one.start, one.end, _trust(one)) for one in clause.more]
    return tuple(dict.fromkeys([own, *more, *clause.more_sources]))


def written(text: str, said_at: datetime, language: Language, label: str) -> tuple[str, When | None]:
    """The clause as it is kept: no fillers, dates made absolute, the subject written out."""
    body = dated(language.strip(text), said_at, language.code)
    return (language.explicit(body.text, label) if body.text else ""), body.when


def dedupe_key(text: str) -> bytes:
    """The same for texts that differ in case, spaces and punctuation alone."""
    plain = "".join(char for char in text.casefold() if char.isalnum())
    return sha256(plain.encode("utf-8", "surrogatepass")).digest()[:16]


def _kind(clause: Clause, when: When | None) -> Kind:
    if "instruction" in clause.features:
        return "procedural"
    if when is not None and clause.features & {"plan", "change", "date"} and not clause.features & {"habit"}:
        return "episodic"
    return "semantic"


_WEIGHTS: Final = (
    ({"health", "identity"}, 0.9),
    ({"instruction", "remember"}, 0.8),
    ({"others", "work", "place"}, 0.7),
    ({"change", "plan", "favourite", "measure"}, 0.6),
)


def _importance(clause: Clause) -> float:
    return next((weight for names, weight in _WEIGHTS if clause.features & names), 0.5)
