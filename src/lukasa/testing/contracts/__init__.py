"""What every implementation of a Protocol must do, as test classes to subclass. These need pytest."""

import pytest

pytest.register_assert_rewrite(
    *(f"lukasa.testing.contracts.{name}" for name in ("clauses", "embedder", "ledger", "replacing", "turns"))
)
