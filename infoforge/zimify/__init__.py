"""A folder of documents becomes a ZIM file."""
