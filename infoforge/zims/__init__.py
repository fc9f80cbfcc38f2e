"""The shelf of ZIM files: find, download, verify, update."""
