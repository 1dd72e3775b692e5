"""The objects of a JSON file of an archive, and what goes wrong in it as problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from lukasa.archives.base import Advance, Problem
from lukasa.archives.files import UNREADABLE, Member
from lukasa.archives.shape import shape_of
from lukasa.archives.stream import elements
from lukasa.errors import InputError


def objects(member: Member, advance: Advance) -> Iterator[tuple[str, Mapping[str, object] | Problem]]:
    """Each object of a file with its place; a `Problem` for what is none, and where the file breaks off."""
    number = 0
    try:
        found = shape_of(member)
        with member.open(advance) as stream:
            for number, value in enumerate(elements(stream, "item" if found is None else found.place), 1):
                place = f"{member.name}, entry {number}"
                if isinstance(value, dict):
                    yield place, cast("Mapping[str, object]", value)
                else:
                    yield place, Problem(place, f"{type(value).__name__}, where an object was expected")
    except (InputError, *UNREADABLE) as error:
        place = f"{member.name}, entry {number + 1}"
        yield place, Problem(place, f"{str(error) or type(error).__name__}; nothing behind it can be read")
