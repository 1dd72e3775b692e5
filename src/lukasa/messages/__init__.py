"""What came in: scopes, normalised messages, masked secrets."""
