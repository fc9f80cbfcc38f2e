"""Searchable things behind one protocol: a ZIM over HTTP, a ZIM in this process, the vault."""
