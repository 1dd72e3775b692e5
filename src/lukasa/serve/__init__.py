"""Faces over the library: the command line; each is thin, none decides anything."""
