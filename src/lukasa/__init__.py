"""Lukasa: a memory layer for LLM applications."""

from lukasa.aio import AsyncMemory
from lukasa.memory import Memory

__all__ = ["AsyncMemory", "Memory"]
