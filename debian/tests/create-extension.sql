CREATE EXTENSION simhash_pg;
CREATE TABLE document (id integer PRIMARY KEY, body text, si bigint GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO document (id, body) SELECT i, translate(md5(i::text), '0123456789', 'nors tu i ') FROM generate_series(1, 2000) AS i;
CREATE INDEX ON document USING hamming (si);
ANALYZE document;
SET enable_seqscan = off;
DO $$
BEGIN
    ASSERT (SELECT array_agg(id) FROM document WHERE hamming(si, (SELECT si FROM document WHERE id = 7)) <= 0) = '{7}';
    ASSERT (SELECT count(*) FROM hamming_index_check('document_si_idx', true)) = 0;
END $$;
