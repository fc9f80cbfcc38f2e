"""The configuration: loading, validating, explaining."""
