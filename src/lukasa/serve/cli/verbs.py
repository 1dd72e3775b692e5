"""The verbs of a memory as commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from lukasa.errors import MemoryNotFound
from lukasa.serve.cli import output
from lukasa.serve.cli.arguments import a_text, filters_of, messages_of, metadata_of
from lukasa.serve.cli.call import Call, Ids, scoped
from lukasa.serve.cli.exits import Code
from lukasa.types import UNSET

_Id = Annotated[str, typer.Argument(metavar="ID", help="A memory's id.", show_default=False)]
_Metadata = Annotated[
    list[str] | None,
    typer.Option("--metadata", help="key=value or a JSON object; repeatable.", show_default=False),
]
_Timestamp = Annotated[
    str | None, typer.Option(help="When it was said or became true: ISO 8601.", show_default=False)
]
_Filter = Annotated[str | None, typer.Option("--filter", help="Which memories, as JSON.", show_default=False)]
_AsOf = Annotated[str | None, typer.Option(help="What held at that time: ISO 8601.", show_default=False)]
_Limit = Annotated[int, typer.Option("--limit", help="How many at most.", min=1)]
_Expired = Annotated[bool, typer.Option("--show-expired", help="Expired ones too.")]
Verbatim = Annotated[bool, typer.Option("--verbatim", help="Keep every message word for word.")]
_NEVER: Final = "never"


@scoped
def add(
    call: Call,
    text: Annotated[
        str | None, typer.Argument(help="What to remember; '-' or nothing reads stdin.", show_default=False)
    ] = None,
    messages: Annotated[
        Path | None,
        typer.Option(
            help="A JSON file of messages instead of a text; '-' is stdin.",
            show_default=False,
        ),
    ] = None,
    role: Annotated[str, typer.Option(help="Who said it.")] = "user",
    metadata: _Metadata = None,
    timestamp: _Timestamp = None,
    expires: Annotated[
        str | None, typer.Option(help="The last day on which it holds: YYYY-MM-DD.", show_default=False)
    ] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(help="A repeated call with this key stores nothing.", show_default=False)
    ] = None,
    verbatim: Verbatim = False,
) -> None:
    """Remember what is worth it in a text, or in messages."""
    if messages is not None and (text is not None or role != "user"):
        raise typer.BadParameter("--messages brings its own texts and roles: leave TEXT and --role out")
    said = messages_of(messages) if messages is not None else {"role": role, "content": a_text(text)}
    with call.memory(new=True) as memory:
        done = memory.add(
            said,
            metadata=metadata_of(metadata),
            timestamp=timestamp,
            expiration_date=expires,
            idempotency_key=idempotency_key,
            infer=not verbatim,
            **call.whose(),
        )
    if call.json:
        return output.document(done)
    for warning in done["warnings"]:
        output.note(f"note: {warning}")
    if not done["results"] and not done["unchanged"]:
        output.note("nothing in it will matter later, by the rules; --verbatim keeps it word for word")
    shown = [*done["results"], *done["superseded"], *done["unchanged"]]
    return output.rows(["id", "event", "memory"], [[one["id"], one["event"], one["memory"]] for one in shown])


@scoped
def search(
    call: Call,
    query: Annotated[str, typer.Argument(help="What to look for.", show_default=False)],
    limit: _Limit = 10,
    threshold: Annotated[float, typer.Option(help="The least score.", min=0, max=1)] = 0.1,
    where: _Filter = None,
    as_of: _AsOf = None,
    show_expired: _Expired = False,
    explain: Annotated[bool, typer.Option("--explain", help="Every number behind the order.")] = False,
    sources: Annotated[
        bool, typer.Option("--sources", help="Also what was said and became no memory.")
    ] = False,
) -> None:
    """The memories that answer a question, best first."""
    filters = filters_of(where)
    whose = call.whose(filters)
    with call.memory() as memory:
        found = memory.search(
            query,
            limit=limit,
            threshold=threshold,
            filters=filters,
            as_of=as_of,
            show_expired=show_expired,
            explain=explain,
            include_sources=sources,
            **whose,
        )
    if call.json:
        return output.document(found)
    if not found["results"]:
        output.note(f"no memory{_of(whose)} answers that; --threshold 0 shows what is nearest")
    columns = list(output.SIGNALS) if explain else ["score"]
    output.memories(found["results"], columns)
    return output.said(found.get("sources", []), columns)


@scoped
def list_(
    call: Call,
    limit: _Limit = 20,
    cursor: Annotated[
        str | None, typer.Option(help="Where the page before ended.", show_default=False)
    ] = None,
    where: _Filter = None,
    as_of: _AsOf = None,
    show_expired: _Expired = False,
    all_scopes: Annotated[bool, typer.Option("--all-scopes", help="Everybody's.")] = False,
) -> None:
    """Memories, the last stored first."""
    filters = filters_of(where)
    whose = call.ids if all_scopes else call.whose(filters)
    with call.memory() as memory:
        page = memory.get_all(
            limit=limit,
            cursor=cursor,
            filters=filters,
            as_of=as_of,
            show_expired=show_expired,
            all_scopes=all_scopes,
            **whose,
        )
    if call.json:
        return output.document(page)
    if not page["results"]:
        return output.note(f"no memories{_of(whose)}")
    output.memories(page["results"])
    if page["cursor"] is not None:
        output.note(f"more: --cursor {page['cursor']}")
    return None


@scoped
def get(call: Call, memory_id: _Id, as_of: _AsOf = None) -> None:
    """One memory with all that it carries."""
    with call.memory() as memory:
        found = memory.get(memory_id, as_of=as_of, **call.ids)
    if found is None:
        raise _missing(memory_id)
    if call.json:
        return output.document(found)
    return output.rows(["field", "value"], output.details(found))


@scoped
def update(
    call: Call,
    memory_id: _Id,
    text: Annotated[
        str | None, typer.Argument(help="The new text; '-' reads stdin.", show_default=False)
    ] = None,
    metadata: _Metadata = None,
    timestamp: _Timestamp = None,
    expires: Annotated[str | None, typer.Option(help="YYYY-MM-DD, or 'never'.", show_default=False)] = None,
) -> None:
    """Give a memory a new version; the old one stays in its history."""
    with call.memory() as memory:
        done = memory.update(
            memory_id,
            None if text is None else a_text(text),
            metadata=metadata_of(metadata),
            expiration_date=UNSET if expires is None else None if expires == _NEVER else expires,
            timestamp=timestamp,
            **call.ids,
        )
    if call.json:
        return output.document(done)
    for warning in done.get("warnings", []):
        output.note(f"note: {warning}")
    return output.say(done["message"])


@scoped
def delete(
    call: Call,
    memory_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A memory's id.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All memories of the given ids.")] = False,
    all_scopes: Annotated[bool, typer.Option("--all-scopes", help="With --all: everybody's.")] = False,
    erase: Annotated[bool, typer.Option("--erase", help="Purge the text everywhere, history too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Take memories out of every recall; --erase purges them."""
    if (memory_id is None) != every:
        raise typer.BadParameter("give the ID of a memory, or --all with --user-id or another id")
    if all_scopes and not every:
        raise typer.BadParameter("--all-scopes goes with --all")
    if every and not call.ids and not all_scopes:
        raise typer.BadParameter("whose? give --user-id or another id; --all-scopes means everybody's")
    with call.memory() as memory:
        if memory_id is not None:
            done = memory.delete(memory_id, erase=erase, **call.ids)
        else:
            count = memory.count(all_scopes=all_scopes, show_expired=True, **call.ids)
            verb = "Erase" if erase else "Delete"
            if not yes and not typer.confirm(
                f"{verb} {count} memories{_of(call.ids) or ' of everybody'}?", err=True
            ):
                output.note("nothing was deleted")
                raise typer.Exit(Code.ERROR)
            done = memory.delete_all(all_scopes=all_scopes, erase=erase, **call.ids)
    if call.json:
        return output.document(done)
    for warning in done.get("warnings", []):
        output.note(f"note: {warning}")
    return output.say(f"{done['message']} ({done['deleted']})" if "deleted" in done else done["message"])


@scoped
def history(call: Call, memory_id: _Id) -> None:
    """What happened to a memory, its deletion included."""
    with call.memory() as memory:
        found = memory.history(memory_id, **call.ids)
    if not found:
        raise _missing(memory_id)
    if call.json:
        return output.document(found)
    return output.rows(*output.events(found))


@scoped
def why(call: Call, memory_id: _Id) -> None:
    """Where a memory comes from: what was said, by whom, when, and every edit since."""
    with call.memory() as memory:
        found = memory.why(memory_id, **call.ids)
    if call.json:
        return output.document(found)
    output.rows(["field", "value"], output.details(found["memory"]))
    sources = [
        [output.when(one["said_at"]), one["name"] or one["role"], one["trust"], one["text"]]
        for one in found["sources"]
    ]
    output.rows(["when", "who", "trust", "source"], sources)
    return output.rows(*output.events(found["history"]))


def _of(ids: Ids) -> str:
    return f" of {output.owner(ids.items())}" if ids else ""


def _missing(memory_id: str) -> MemoryNotFound:
    return MemoryNotFound(f"memory {memory_id!r} not found in this scope")
