"""Every error that Lukasa raises, in one tree.

```
LukasaError
├── ConfigError (ValueError)            a setting is wrong; nothing was read or written
│   ├── UnknownOption (TypeError)       a keyword that does not exist; names the nearest one
│   ├── MissingExtra (ImportError)      an optional package is not installed; names the command
│   └── EmbedderMismatch                the ledger was written with another embedder
├── InputError (ValueError)             the call is wrong; nothing was read or written
│   ├── ScopeError                      no id where one is needed, or ids that disagree
│   ├── FilterError                     a filter with an unknown operator or a wrong shape
│   ├── MessageError                    messages that cannot be understood
│   └── MemoryNotFound (LookupError)    no such memory in the given scope
├── Unsupported (NotImplementedError)   well-formed, but this part cannot do it
├── IdempotencyConflict                 the key was used before for another request
├── StaleVersion                        a memory changed since the decision; decide anew
├── LedgerError (OSError)               the database could not be used; nothing was half-written
│   ├── LedgerUnavailable               path not writable, disk full, closed
│   ├── LedgerBusy                      another process held the write lock for too long
│   ├── LedgerCorrupt                   not a database, or not a ledger of ours
│   └── LedgerTooNew                    written by a newer Lukasa
├── ProviderError                       a model failed; carries provider, operation, retryable
│   └── EmbeddingError                  no vector for a text
└── ScriptExhausted (AssertionError)    in tests: a scripted model was asked more often than told
```
"""

from __future__ import annotations


class LukasaError(Exception):
    """The root: `except LukasaError` catches whatever Lukasa raises on purpose."""


class ConfigError(LukasaError, ValueError):
    """A setting is wrong; nothing was read or written."""


class UnknownOption(ConfigError, TypeError):
    """A keyword that does not exist; the message names the nearest one."""


class MissingExtra(ConfigError, ImportError):
    """An optional package is not installed; the message holds the command that installs it."""


class EmbedderMismatch(ConfigError):
    """The ledger's vectors come from another embedder; `lukasa reembed` embeds anew and switches."""


class InputError(LukasaError, ValueError):
    """The call is wrong; nothing was read or written."""


class ScopeError(InputError):
    """No id where one is needed, or ids that disagree."""


class FilterError(InputError):
    """A filter with an unknown operator or a wrong shape."""


class MessageError(InputError):
    """Messages that cannot be understood."""


class MemoryNotFound(InputError, LookupError):
    """No such memory in the given scope."""


class Unsupported(LukasaError, NotImplementedError):
    """Well-formed, but this part cannot do it."""


class IdempotencyConflict(LukasaError):
    """The idempotency key was used before, in this scope, for a different request."""


class StaleVersion(LukasaError):
    """A memory changed since the decision was made; nothing was written, the caller decides anew."""


class LedgerError(LukasaError, OSError):
    """The database could not be used; nothing was half-written."""


class LedgerUnavailable(LedgerError):
    """The path cannot be written, the disk is full, or the ledger was closed."""


class LedgerBusy(LedgerError):
    """Another process held the write lock for too long; the call may be made again."""


class LedgerCorrupt(LedgerError):
    """The file is not a database, or not a ledger of ours."""


class LedgerTooNew(LedgerError):
    """The ledger was written by a newer Lukasa; upgrade to open it."""


class ProviderError(LukasaError):
    """A model failed. `retryable` tells whether the same call may succeed later."""

    def __init__(self, message: str, *, provider: str, operation: str, retryable: bool) -> None:
        super().__init__(message)
        self.provider = provider
        self.operation = operation
        self.retryable = retryable


class EmbeddingError(ProviderError):
    """No vector for a text."""


class ScriptExhausted(LukasaError, AssertionError):
    """A scripted model of `lukasa.testing` was asked more often than there were replies."""
