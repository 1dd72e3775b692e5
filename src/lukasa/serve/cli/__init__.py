"""The command `lukasa`."""
