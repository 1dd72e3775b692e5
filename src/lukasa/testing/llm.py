"""A language model that says what it was told to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lukasa.errors import ScriptExhausted


class ScriptedLLM:
    """An async callable from messages to text that gives *replies* in order.

    A reply that is an exception is raised in its place. `prompts` holds the messages of every call.
    """

    def __init__(self, replies: Iterable[str | Exception]) -> None:
        self._replies = list(replies)
        self.prompts: list[tuple[Mapping[str, str], ...]] = []

    async def __call__(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The next reply. Raises `ScriptExhausted` when there is none."""
        self.prompts.append(tuple(dict(message) for message in messages))
        if len(self.prompts) > len(self._replies):
            raise ScriptExhausted(
                f"asked {len(self.prompts)} times, but there are {len(self._replies)} replies; "
                f"the last message was {self.prompts[-1][-1:]!r}"
            )
        reply = self._replies[len(self.prompts) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply
