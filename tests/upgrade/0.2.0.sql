-- Objects of every kind that version 0.2.0 offers, and questions to them. Nothing here is newer.

-- Five versions of each text: version v of family f has other words at some places.
CREATE FUNCTION word(family integer, place integer, version integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(md5(left(md5(concat_ws(':', family, place, CASE WHEN place % 23 < version THEN version END)), 2)), 3 + place % 6) $$;
CREATE FUNCTION made_text(id integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(word(id / 5, place, id % 5), ' ' ORDER BY place) FROM generate_series(1, 90) AS place $$;

CREATE TABLE document (
    id integer PRIMARY KEY,
    title text,
    body text NOT NULL,
    doc1 bigint GENERATED ALWAYS AS (simhash(body, 'doc1')) STORED,
    doc2 bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    words bigint GENERATED ALWAYS AS (simhash(body, 'word:2')) STORED,
    chars bigint GENERATED ALWAYS AS (simhash(body, 'char:8')) STORED,
    crawl bigint GENERATED ALWAYS AS (simhash(body, 'commoncrawl')) STORED,
    lexemes bigint GENERATED ALWAYS AS (simhash(to_tsvector('simple', body))) STORED,
    both_columns bigint GENERATED ALWAYS AS (simhash(simhash_text(title, body))) STORED,
    page bigint GENERATED ALWAYS AS (simhash(extract_text('<p>' || body || '<script>no text</script>'))) STORED,
    spelling text GENERATED ALWAYS AS (simhash_encode(simhash(body), 'doc2')) STORED,
    manber bigint[] GENERATED ALWAYS AS (manber_sketch(body, 20, 4)) STORED,
    winnow bigint[] GENERATED ALWAYS AS (winnow_sketch(body, 20, 20)) STORED,
    heintze bigint[] GENERATED ALWAYS AS (heintze_sketch(body, 30)) STORED,
    signature integer[] GENERATED ALWAYS AS (minhash_classic(body)) STORED,
    bands bigint[] GENERATED ALWAYS AS (minhash_bands(minhash_classic(body), 32)) STORED,
    passages bigint[] GENERATED ALWAYS AS (passage_sketch(body, 100)) STORED,
    CHECK (hamming_within(doc1, 0, 64)),
    CONSTRAINT by_default CHECK (doc2 = simhash(body))
);
INSERT INTO document (id, title, body) SELECT i, CASE WHEN i % 3 > 0 THEN md5(i::text) END, made_text(i) FROM generate_series(1, 3000) AS i;
CREATE INDEX document_doc1 ON document USING hamming (doc1);
CREATE INDEX document_doc2 ON document USING hamming (doc2);
CREATE INDEX document_partial ON document USING hamming (words) WHERE id % 2 = 0;
CREATE INDEX document_expression ON document USING hamming (simhash(body, 'char:4'));
CREATE INDEX document_by_default ON document USING hamming (simhash(body));
CREATE INDEX document_gist ON document USING gist (words gist_hamming_ops);
CREATE INDEX document_two_columns ON document USING gist (chars gist_hamming_ops, crawl gist_hamming_ops);
CREATE INDEX document_distance ON document (hamming(lexemes, 42));
CREATE INDEX document_manber ON document USING gin (manber);
CREATE INDEX document_winnow ON document USING gin (winnow);
CREATE INDEX document_heintze ON document USING gin (heintze);
CREATE INDEX document_bands ON document USING gin (bands);
CREATE INDEX document_passages ON document USING gin (passages);

CREATE TABLE triggered (id integer, title text, body text, si bigint);
CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON triggered
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'title', 'body', 'scheme=word:3');
INSERT INTO triggered SELECT id, title, body FROM document WHERE id <= 1000;
CREATE TABLE triggered_by_default (id integer, title text, body text, si bigint);
CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON triggered_by_default
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'title', 'body');
INSERT INTO triggered_by_default SELECT id, title, body FROM document WHERE id <= 1000;
CREATE TABLE ruled (body text, si bigint);
CREATE VIEW written AS SELECT body FROM ruled;
CREATE RULE fingerprint AS ON INSERT TO written DO INSTEAD INSERT INTO ruled VALUES (NEW.body, simhash(NEW.body));
INSERT INTO written SELECT body FROM document WHERE id <= 100;
CREATE INDEX triggered_si ON triggered USING hamming (si);

CREATE TABLE different (id integer, si bigint, EXCLUDE USING gist (hamming_ball(si, 6) WITH ~));
INSERT INTO different SELECT id, doc1 FROM document WHERE id <= 500 ORDER BY id ON CONFLICT DO NOTHING;

CREATE TABLE watched (id integer, ball hamming_ball);
INSERT INTO watched SELECT id, hamming_ball(doc1, id % 12) FROM document WHERE id % 10 = 0;
CREATE INDEX watched_ball ON watched USING gist (ball);

CREATE TABLE parted (id integer, si bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (1500);
CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (1500) TO (100000);
CREATE INDEX ON parted USING hamming (si);
INSERT INTO parted SELECT id, doc1 FROM document;

CREATE VIEW near_family AS
    SELECT id, hamming(doc1, (SELECT doc1 FROM document WHERE id = 12)) AS distance, hamming_similarity(doc1, 42) AS similarity
    FROM document WHERE hamming(doc1, (SELECT doc1 FROM document WHERE id = 12)) <= 12;
CREATE VIEW keeper AS
    SELECT id, near_cluster(id, doc1, 6) OVER (ORDER BY id) AS keeper FROM document;
CREATE MATERIALIZED VIEW pair AS
    SELECT p.* FROM (SELECT array_agg(id::bigint) AS ids, array_agg(doc1) AS fingerprints FROM document) AS d,
        near_pairs(ids, fingerprints, 8) AS p;
CREATE VIEW of_features AS
    SELECT id % 50 AS part, simhash_agg(left(body, 40), 1) AS plain, simhash_agg(left(body, 10), id::double precision) AS weighted
    FROM document GROUP BY id % 50;
CREATE VIEW by_default AS SELECT id, simhash(body) AS si FROM document;
CREATE VIEW feature AS SELECT id, f.* FROM document, simhash_features(body) AS f;
CREATE VIEW explanation AS SELECT simhash_explain(a.body, b.body) AS e FROM document AS a JOIN document AS b ON b.id = a.id + 1;

CREATE FUNCTION near(query text, radius integer) RETURNS SETOF integer LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT id FROM document WHERE hamming(doc2, simhash(query)) <= radius; END;
CREATE FUNCTION near_by_quoted_body(query text, radius integer) RETURNS SETOF integer LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT id FROM document WHERE doc2 <@ hamming_ball(simhash(query), radius) AND doc2 <~> simhash(query) < 64;
END $$;

CREATE TABLE signed AS
SELECT id, minhash(body) AS signature, minhash_bits(minhash(body, 64))::bit(64)::bigint AS code FROM document;
CREATE INDEX signed_bands ON signed USING gin (minhash_bands(signature, 32));
CREATE INDEX signed_code ON signed USING hamming (code);

CREATE TABLE coded AS SELECT id, minhash_bits(body, 256)::bit(256) AS code FROM document;
CREATE INDEX coded_code ON coded USING hamming (code);

CREATE TABLE excerpted AS SELECT id, excerpt_sketch(body, 40) AS sketch FROM document;
CREATE INDEX excerpted_sketch ON excerpted USING gin (sketch sketch_ops);

GRANT EXECUTE ON FUNCTION hamming_index_check(regclass, boolean) TO pg_monitor;
VACUUM ANALYZE;

INSERT INTO question (name, digest, index, query) VALUES
    ('generated columns', '14ca991b', NULL,
        $$SELECT * FROM document WHERE id % 7 = 0$$),
    ('triggered', '85a95db5', NULL,
        $$SELECT id, si FROM triggered$$),
    ('triggered by default', '2acbce74', NULL,
        $$SELECT id, si FROM triggered_by_default$$),
    ('view of fingerprints', 'da87fddc', NULL,
        $$SELECT * FROM by_default WHERE id % 7 = 0$$),
    ('view of features', '423a6492', NULL,
        $$SELECT * FROM feature WHERE id % 100 = 0$$),
    ('view of explanations', '75a94b12', NULL,
        $$SELECT * FROM explanation WHERE e ->> 'distance' = '3'$$),
    ('different', 'ee5d7d88', NULL,
        $$SELECT * FROM different$$),
    ('balls', '072e4332', NULL,
        $$SELECT * FROM watched$$),
    ('clusters', 'd00e6057', NULL,
        $$SELECT * FROM keeper$$),
    ('pairs', '26f980b5', NULL,
        $$SELECT * FROM pair$$),
    ('features', 'e04e9c80', NULL,
        $$SELECT * FROM of_features$$),
    ('plpgsql', '58b96171', NULL,
        $$SELECT near_by_quoted_body(body, 12) FROM document WHERE id = 77$$),
    ('sketches', 'c5295dbb', NULL,
        $$SELECT a.id, b.id, sketch_similarity(a.manber, b.manber), sketch_containment(a.winnow, b.winnow),
           minhash_similarity(a.signature, b.signature)
        FROM document AS a JOIN document AS b ON a.id / 5 = b.id / 5 WHERE a.id % 100 = 0$$),
    ('explanations', 'a7bd801f', NULL,
        $$SELECT simhash_explain(body, made_text(id + 1), 'doc1'), simhash_explain(body, made_text(id + 1)), f.*
        FROM document, simhash_features(body, 'word:2') AS f WHERE id = 5$$),
    ('passages', 'bbb72431', NULL,
        $$SELECT * FROM shared_passages(made_text(10), made_text(14), 30), recursive_shingles(made_text(11))$$),
    ('schemes', '6f2e718d', NULL,
        $$SELECT * FROM simhash_schemes() WHERE name <> 'letters:k'$$),
    ('decoded', '6ebeecaf', NULL,
        $$SELECT simhash_decode(spelling), simhash_decode(doc1::numeric) FROM document WHERE id < 100$$),
    ('distances', '64be9aec', NULL,
        $$SELECT id, hamming(doc1, words), ham_dist(title, body), hamming_radius(id / 3000.0) FROM document WHERE id < 200$$),
    ('histogram', '45da735e', NULL,
        $$SELECT count(*), sum(pairs) > 0 FROM hamming_histogram('document', 'doc1', 500)$$),
    ('statistics', 'dc2d187f', NULL,
        $$SELECT rows, nulls FROM hamming_index_stats('document_doc1')$$),
    ('radius', '1c682346', 'document_doc1',
        $$SELECT id FROM document WHERE hamming(doc1, (SELECT doc1 FROM document WHERE id = 100)) <= 12$$),
    ('smaller than a fraction', '133352f6', 'document_doc1',
        $$SELECT id FROM document WHERE hamming(doc1, (SELECT doc1 FROM document WHERE id = 101)) < 9.5$$),
    ('similarity', '2efe6a13', 'document_doc1',
        $$SELECT id FROM document WHERE hamming_similarity(doc1, (SELECT doc1 FROM document WHERE id = 102)) >= 0.85$$),
    ('operator', '48d82343', 'document_doc1',
        $$SELECT id FROM document WHERE doc1 <@ hamming_ball((SELECT doc1 FROM document WHERE id = 103), 10)$$),
    ('commuted operator', 'ef45d4da', 'document_doc1',
        $$SELECT id FROM document WHERE '<42,20>'::hamming_ball @> doc1$$),
    ('function', '38ea01c6', 'document_doc1',
        $$SELECT id FROM document WHERE hamming_within(doc1, (SELECT doc1 FROM document WHERE id = 104), 10)$$),
    ('equal', '5ddb3f57', 'document_doc1',
        $$SELECT id FROM document WHERE doc1 = (SELECT doc1 FROM document WHERE id = 105)$$),
    ('nearest', 'ef7d8f5f', 'document_doc1',
        $$SELECT hamming(doc1, 4711) FROM document ORDER BY hamming(doc1, 4711) LIMIT 50$$),
    ('most similar', 'aa2511dd', 'document_doc1',
        $$SELECT hamming_similarity(doc1, -1) FROM document
        ORDER BY hamming_similarity(doc1, -1) DESC NULLS LAST LIMIT 50$$),
    ('join', 'ae9a1785', 'document_doc1',
        $$SELECT a.id, b.id FROM document AS a JOIN document AS b ON hamming(a.doc1, b.doc1) <= 8
        WHERE a.id BETWEEN 1 AND 100$$),
    ('view', '6be57324', 'document_doc1',
        $$SELECT * FROM near_family$$),
    ('function in SQL', '5153b366', 'document_doc2',
        $$SELECT * FROM near('some words', 20)$$),
    ('partial index', '3b81bfa2', 'document_partial',
        $$SELECT id FROM document
        WHERE hamming(words, (SELECT words FROM document WHERE id = 106)) <= 12 AND id % 2 = 0$$),
    ('expression', 'd757b9f8', 'document_expression',
        $$SELECT id FROM document
        WHERE hamming(simhash(body, 'char:4'), simhash(made_text(107), 'char:4')) <= 12$$),
    ('expression with the default scheme', 'c674d671', 'document_by_default',
        $$SELECT id FROM document WHERE hamming(simhash(body), simhash(made_text(107))) <= 12$$),
    ('gist', 'ba514af1', 'document_gist',
        $$SELECT id FROM document WHERE hamming(words, (SELECT words FROM document WHERE id = 108)) <= 12$$),
    ('gist, nearest', 'ffecfdc0', 'document_gist',
        $$SELECT words <~> 99 FROM document ORDER BY words <~> 99 LIMIT 50$$),
    ('gist, two columns', 'c674d671', 'document_two_columns',
        $$SELECT id FROM document
        WHERE hamming(chars, (SELECT chars FROM document WHERE id = 109)) <= 14
           AND hamming(crawl, (SELECT crawl FROM document WHERE id = 109)) <= 20$$),
    ('gist of balls', 'd55f9248', 'watched_ball',
        $$SELECT id FROM watched WHERE ball ~ (SELECT ball FROM watched WHERE id = 110)$$),
    ('btree of distances', '01693234', NULL,
        $$SELECT id FROM document WHERE hamming(lexemes, 42) = 25$$),
    ('partitions', '218e8a2a', '_si_idx',
        $$SELECT id FROM parted WHERE hamming(si, (SELECT doc1 FROM document WHERE id = 116)) <= 12$$),
    ('partitions, nearest', 'ef7d8f5f', '_si_idx',
        $$SELECT hamming(si, 4711) FROM parted ORDER BY hamming(si, 4711) LIMIT 50$$),
    ('gin, manber', 'aa8d69db', 'document_manber',
        $$SELECT id FROM document WHERE manber && (SELECT manber FROM document WHERE id = 111)$$),
    ('gin, winnow', 'aa8d69db', 'document_winnow',
        $$SELECT id FROM document WHERE winnow && (SELECT winnow FROM document WHERE id = 112)$$),
    ('gin, heintze', 'aa8d69db', 'document_heintze',
        $$SELECT id FROM document WHERE heintze && (SELECT heintze FROM document WHERE id = 113)$$),
    ('gin, bands', 'aa8d69db', 'document_bands',
        $$SELECT id FROM document WHERE bands && (SELECT bands FROM document WHERE id = 114)$$),
    ('gin, passages', 'eef0af0b', 'document_passages',
        $$SELECT id FROM document WHERE passages && (SELECT passages FROM document WHERE id = 115)$$),
    ('signatures by bins', '20e169cf', NULL,
        $$SELECT a.id, b.id, a.code, minhash_similarity(a.signature, b.signature), minhash_merge(a.signature, b.signature),
           minhash_bits(a.signature)
        FROM signed AS a JOIN signed AS b ON a.id / 5 = b.id / 5 WHERE a.id % 100 = 0$$),
    ('signatures joined', 'c9ec9fdc', NULL,
        $$SELECT id % 10, minhash_agg(signature) FROM signed GROUP BY 1$$),
    ('gin, bands of bins', 'f1523b8e', 'signed_bands',
        $$SELECT id FROM signed
        WHERE minhash_bands(signature, 32) && minhash_bands((SELECT signature FROM signed WHERE id = 117), 32)$$),
    ('bits of signatures', 'f1523b8e', 'signed_code',
        $$SELECT id FROM signed WHERE hamming(code, (SELECT code FROM signed WHERE id = 118)) <= 16$$),
    ('strings of bits', 'f24a2270', NULL,
        $$SELECT a.id, hamming(a.code, b.code), hamming_similarity(a.code, b.code), hamming_ball(a.code, a.id)
        FROM coded AS a JOIN coded AS b ON b.id = 119 WHERE hamming_within(a.code, b.code, 100)$$),
    ('index of strings of bits', '0b6785de', 'coded_code',
        $$SELECT id FROM coded WHERE hamming(code, (SELECT code FROM coded WHERE id = 120)) <= 100$$),
    ('nearest strings of bits', '25cb10a3', 'coded_code',
        $$SELECT code <^> 42::bit(256) FROM coded ORDER BY code <^> 42::bit(256) LIMIT 50$$),
    ('pairs of strings of bits', '7d8381af', NULL,
        $$SELECT p.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM coded) AS c,
            near_pairs(ids, codes, 80) AS p$$),
    ('clusters of strings of bits', 'acbdff5b', NULL,
        $$SELECT id, near_cluster(id, code, 80) OVER (ORDER BY id) FROM coded
        UNION ALL SELECT c.* FROM (SELECT array_agg(id) AS ids, array_agg(code) AS codes FROM coded) AS a,
            near_clusters(ids, codes, 80, 'connected') AS c$$),
    ('near pairs in parts', '7d8381af', NULL,
        $$SELECT p.* FROM (SELECT block, array_agg(id::text) AS ids, array_agg(code) AS codes
            FROM coded, unnest(near_blocks(code, 80, 3)) AS block GROUP BY block) AS c, near_pairs(ids, codes, 80, 3, block) AS p$$),
    ('histogram of strings of bits', 'ddc985eb', NULL,
        $$SELECT distance, pairs FROM hamming_histogram('coded', 'code')$$),
    ('excerpts', 'a204ece9', 'excerpted_sketch',
        $$SELECT id, sketch FROM excerpted WHERE sketch && (SELECT sketch FROM excerpted WHERE id = 115)$$),
    ('shares of sketches', 'f1523b8e', 'excerpted_sketch',
        $$SELECT id FROM excerpted WHERE sketch_similarity(sketch, (SELECT sketch FROM excerpted WHERE id = 115)) >= 0.2$$);
