-- @DIMENSION@ is the length of the embedding model's vectors.
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE vault_settings (
    key text PRIMARY KEY,
    value text NOT NULL
);

-- One row a note: what the indexer compares the folder with.
CREATE TABLE notes (
    source text PRIMARY KEY,          -- path in the vault, with /
    digest text NOT NULL,             -- SHA-256 of all that its chunks are made from
    title text NOT NULL,
    modified date NOT NULL            -- the note's own: front matter, git, or the file's time
);

CREATE TABLE chunks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source text NOT NULL REFERENCES notes ON DELETE CASCADE ON UPDATE CASCADE,
    chunk_index integer NOT NULL,
    heading_path text NOT NULL,
    content text NOT NULL,
    content_hash text NOT NULL,       -- SHA-256 of the text that the model read
    embedding vector(@DIMENSION@) NOT NULL,
    words tsvector NOT NULL,
    modified date NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (source, chunk_index)
);

CREATE INDEX chunks_embedding ON chunks
    USING hnsw (embedding vector_cosine_ops) WITH (m = 16, ef_construction = 128);
CREATE INDEX chunks_words ON chunks USING gin (words) WITH (fastupdate = off);
CREATE INDEX chunks_source ON chunks (source text_pattern_ops);
CREATE INDEX chunks_content_hash ON chunks (content_hash);
