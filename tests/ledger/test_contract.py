"""The SQLite ledger keeps the contract of ledgers."""

from pathlib import Path

from lukasa.ledger.base import Ledger
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing.contracts.ledger import LedgerContract


class TestSqliteLedger(LedgerContract):
    def ledger(self, path: Path) -> Ledger:
        return SqliteLedger(path / "contract.db", model="contract")
