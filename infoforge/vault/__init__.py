"""The vault: a folder of markdown notes, its index in Postgres, and the search in it."""
