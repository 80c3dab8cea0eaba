-- Writes the codes of texts, in hexadecimal digits, tab-separated. Called with -v texts=PATH.
CREATE EXTENSION simhash_pg;
CREATE UNLOGGED TABLE sample (id integer, "set" text, pair integer, side integer, family text, text text);
COPY sample FROM :'texts' CSV;

CREATE FUNCTION look(doc text, bits integer, scheme text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(lpad(to_hex(substr(code::text, at, 8)::bit(8)::integer), 2, '0'), '' ORDER BY at)
    FROM minhash_bits(doc, bits, scheme) AS code, generate_series(1, bits, 8) AS at
$$;

COPY (
    SELECT id,
        lpad(to_hex(simhash(text)), 16, '0') AS "doc2",
        lpad(to_hex(simhash(text, 'doc1')), 16, '0') AS "doc1",
        lpad(to_hex(simhash(text, 'char:4')), 16, '0') AS "char:4",
        lpad(to_hex(simhash(text, 'perm:char:4')), 16, '0') AS "perm:char:4",
        lpad(to_hex(simhash(text, 'perm:letters:4')), 16, '0') AS "perm:letters:4",
        look(text, 128, 'doc2') AS "doc2 128",
        look(text, 128, 'letters:4') AS "letters:4 128",
        look(text, 256, 'word:2') AS "word:2 look",
        look(text, 256, 'doc2') AS "doc2 look"
    FROM sample ORDER BY id
) TO STDOUT (NULL '', HEADER, FORMAT text);
