"""The box: its container, its host, its health."""
