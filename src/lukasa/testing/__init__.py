"""Doubles of the outside world: real implementations, deterministic, without model, network or pytest."""

from lukasa.testing.clock import FrozenClock
from lukasa.testing.embedders import HashEmbedder
from lukasa.testing.llm import ScriptedLLM

__all__ = ["FrozenClock", "HashEmbedder", "ScriptedLLM"]
