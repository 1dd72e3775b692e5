"""What every implementation of a Protocol must do, as test classes to subclass. These need pytest."""

import pytest

pytest.register_assert_rewrite("lukasa.testing.contracts.embedder", "lukasa.testing.contracts.ledger")
