"""What of an episode is worth keeping, by whichever extractor is set."""

from __future__ import annotations

from lukasa.extract.base import Extracted
from lukasa.extract.rules.rules import extract as by_rules
from lukasa.runtime import in_thread
from lukasa.types import Episode


async def extract(episode: Episode) -> Extracted:
    """Facts of *episode*, and what was left out: by the built-in rules, which ask nobody."""
    return await in_thread(by_rules, episode)
