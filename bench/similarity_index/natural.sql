-- Writes the codes of texts, in hexadecimal digits, tab-separated. Called with -v texts=PATH.
CREATE EXTENSION simhash_pg;
CREATE UNLOGGED TABLE sample (id integer, "set" text, pair integer, side integer, family text, text text);
COPY sample FROM :'texts' CSV;

-- What is rare in the texts of the old release, of each set.
CREATE TABLE rarity AS SELECT "set", feature_weights(text, 'word:2') AS weights FROM sample WHERE side = 0 GROUP BY "set";

CREATE FUNCTION look(code bit varying) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(lpad(to_hex(substr(code::text, at, 8)::bit(8)::integer), 2, '0'), '' ORDER BY at)
    FROM generate_series(1, length(code), 8) AS at
$$;

CREATE FUNCTION without_marks(doc text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(normalize(doc, NFD), '[\u0300-\u036f]', '', 'g')
$$;

COPY (
    SELECT id,
        lpad(to_hex(simhash(text)), 16, '0') AS "doc2",
        lpad(to_hex(simhash(text, 'doc1')), 16, '0') AS "doc1",
        lpad(to_hex(simhash(text, 'word:3')), 16, '0') AS "word:3",
        lpad(to_hex(simhash(text, 'char:4')), 16, '0') AS "char:4",
        lpad(to_hex(simhash(text, 'perm:char:4')), 16, '0') AS "perm:char:4",
        lpad(to_hex(simhash(text, 'perm:letters:4')), 16, '0') AS "perm:letters:4",
        lpad(to_hex(simhash(without_marks(text))), 16, '0') AS "doc2 unmarked",
        look(minhash_bits(text, 64, 'word:2')) AS "minhash word:2",
        look(minhash_bits(text, 128, 'doc2')) AS "doc2 128",
        look(minhash_bits(text, 128, 'letters:4')) AS "letters:4 128",
        look(minhash_bits(text, 256, 'doc2')) AS "doc2 look",
        look(minhash_bits(text, 256, 'word:2')) AS "word:2 look",
        look(minhash_bits(text, 256, weights)) AS "rare look"
    FROM sample JOIN rarity USING ("set") ORDER BY id
) TO STDOUT (NULL '', HEADER, FORMAT text);
