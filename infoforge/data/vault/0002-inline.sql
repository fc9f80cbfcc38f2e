-- A vector lies in its row, not beside it: to look at a folder passage by passage took five pages
-- for each. In rows of the usual size it would push content and words out; hence the larger ones.
ALTER TABLE chunks SET (toast_tuple_target = 4080);

-- Rows that are there already move when the column is made anew; so does the graph. One process
-- builds it: several would share it in /dev/shm, of which a container has little.
SET LOCAL maintenance_work_mem = '256MB';
SET LOCAL max_parallel_maintenance_workers = 0;
DROP INDEX chunks_embedding;
ALTER TABLE chunks
    ALTER COLUMN embedding TYPE vector(@DIMENSION@) USING (embedding::real[])::vector(@DIMENSION@),
    ALTER COLUMN embedding SET STORAGE MAIN;
CREATE INDEX chunks_embedding ON chunks
    USING hnsw (embedding vector_cosine_ops) WITH (m = 16, ef_construction = 128);
