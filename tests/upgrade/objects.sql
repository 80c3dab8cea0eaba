-- The extension at version :release, and objects whose answers an update keeps.
\set QUIET on
CREATE EXTENSION simhash_pg VERSION :'release';

-- Five versions of each text: version v of family f has other words at some places.
CREATE FUNCTION made_text(id integer) RETURNS text LANGUAGE sql IMMUTABLE
RETURN (
    SELECT string_agg(left(md5((id / 5 * 1000 + place * 10 + CASE WHEN place % 23 < id % 5 THEN id % 5 ELSE 9 END)::text), 3 + place % 6), ' ' ORDER BY place)
    FROM generate_series(1, 90) AS place
);

CREATE TABLE document (
    id integer PRIMARY KEY,
    body text NOT NULL,
    si bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    code bit(256) GENERATED ALWAYS AS (minhash_bits(body, 256)) STORED,
    sketch bigint[] GENERATED ALWAYS AS (excerpt_sketch(body, 40)) STORED,
    spelling text GENERATED ALWAYS AS (simhash_encode(simhash(body, 'doc1'))) STORED,
    CHECK (hamming_within(si, 0, 64))
);
CREATE INDEX document_si ON document USING hamming (si);
CREATE INDEX document_code ON document USING hamming (code);
CREATE INDEX document_expression ON document USING hamming (simhash(body, 'char:4'));
CREATE INDEX document_gist ON document USING gist (si gist_hamming_ops);
CREATE INDEX document_sketch ON document USING gin (sketch sketch_ops);
INSERT INTO document (id, body) SELECT i, made_text(i) FROM generate_series(1, 2000) AS i;

CREATE TABLE triggered (id integer, body text, si bigint);
CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON triggered FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'body');
INSERT INTO triggered SELECT id, body FROM document;
CREATE TABLE different (id integer, si bigint, EXCLUDE USING hamming (hamming_ball(si, 6) WITH ~));
INSERT INTO different SELECT id, si FROM document ORDER BY id ON CONFLICT DO NOTHING;

CREATE VIEW near AS SELECT id, hamming(si, 42) AS distance, hamming_similarity(si, 42) AS similarity FROM document WHERE hamming(si, 42) <= 20;
CREATE VIEW keeper AS SELECT id, near_cluster(id, si, 6) OVER (ORDER BY id) AS keeper FROM document;
CREATE VIEW of_features AS SELECT id % 50 AS part, simhash_agg(left(body, 10), id::double precision) AS si FROM document GROUP BY 1;
CREATE FUNCTION near_text(query text, radius integer) RETURNS SETOF integer LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT id FROM document WHERE hamming(si, simhash(query)) <= radius; END;
GRANT EXECUTE ON FUNCTION hamming_index_check(regclass, boolean) TO pg_monitor;
VACUUM ANALYZE;
