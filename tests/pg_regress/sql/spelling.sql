-- the rows of the Similarity Index paper, and the extremes
SELECT si, simhash_encode(si), simhash_decode(simhash_encode(si)) = si AS back
FROM unnest('{4565828753376763011,1964999968704519315,2259985744163069059,0,1,-1,264,335,-9223372036854775808}'::bigint[]) AS si;
SELECT simhash_encode(264, 'doc1'), simhash_encode(264, 'doc2'), simhash_encode(264, 'simhash-doc'), simhash_encode(264, 'word:3'), simhash_encode(264, scheme => NULL), simhash_encode(NULL, 'doc1');
SELECT simhash_encode(264, 'doc9');
-- every accepted spelling
SELECT text, simhash_decode(text)
FROM unnest(ARRAY['h5orkd3wjfoig', 'H5ORKD3WJFOIG', 'doc1:h5orkd3wjfoig', 'doc2:h5orkd3wjfoig', 'simhash-doc:h5orkd3wjfoig', 'char:4:h5orkd3wjfoig', E' h5ork d3wjf oig\n',
    '3f5d150f76495c83', '3F5D150F76495C83', '0011111101011101000101010000111101110110010 010010101110010000011',
    '0x3f5d150f76495c83', '0X3F5D150F76495C83', '0x1f', 'doc1: 0x00ff', '0xffffffffffffffff']) AS text;
SELECT count(*) FROM generate_series(1, 10000) AS i
WHERE simhash_decode(simhash_encode(hashint8extended(i, 1), 'doc1')) <> hashint8extended(i, 1)
   OR simhash_decode('0x' || to_hex(hashint8extended(i, 1))) <> hashint8extended(i, 1)
   OR simhash_decode(hashint8extended(i, 1)::bit(64)::text) <> hashint8extended(i, 1);
SELECT simhash_decode(NULL);
-- hexadecimal digits without any letter can be decimal
SELECT simhash_decode('4565828753376763');
SELECT simhash_decode('0x4565828753376763') AS hexadecimal;
SELECT count(*) AS refused FROM generate_series(1, 10000) AS i, lpad(to_hex(hashint8extended(i, 1)), 16, '0') AS code WHERE code !~ '[a-f]';
SELECT count(*) AS misread FROM generate_series(1, 10000) AS i, lpad(to_hex(hashint8extended(i, 1)), 16, '0') AS code
WHERE code ~ '[a-f]' AND simhash_decode(code) <> hashint8extended(i, 1);
-- decimal numbers with and without a sign
SELECT number, simhash_decode(number) AS si
FROM unnest('{0,18446744073709551615,9223372036854775808,9223372036854775807,-9223372036854775808,-1}'::numeric[]) AS number;
SELECT count(*) AS wrong FROM generate_series(1, 10000) AS i, hashint8extended(i, 1) AS si,
    LATERAL (SELECT CASE WHEN si < 0 THEN si + 18446744073709551616 ELSE si END AS number) AS unsigned
WHERE simhash_decode(number) <> si OR simhash_decode(si) <> si;
\set VERBOSITY terse
SELECT simhash_decode(18446744073709551616);
SELECT simhash_decode(-9223372036854775809);
SELECT simhash_decode(1.5);
SELECT simhash_decode('NaN'::numeric);
SELECT simhash_decode(42.00) AS si, simhash_decode(1.2e19) AS large;
\set VERBOSITY default
-- a literal without a type is text
PREPARE untyped AS SELECT simhash_decode($1);
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
DEALLOCATE untyped;
-- errors
SELECT simhash_decode('');
SELECT simhash_decode('h5orkd3wjfoi');
SELECT simhash_decode('h5orkd3wjfo1g');
SELECT simhash_decode('h5orkd3wjfoih');
SELECT simhash_decode('3f5d150f76495c8x');
SELECT simhash_decode(repeat('2', 64));
SELECT simhash_decode('doc9:h5orkd3wjfoig');
SELECT simhash_decode('word:99:h5orkd3wjfoig');
SELECT simhash_decode('42');
SELECT simhash_decode('4565828753376763011');
SELECT simhash_decode('0x');
SELECT simhash_decode('0x03f5d150f76495c83');
SELECT simhash_decode('0xfg');
SELECT simhash_decode(repeat('a', 1000000));
-- codes in hexadecimal digits; those in base64 by way of bytes
SELECT code_decode('8b1FcdE8') AS hex, code_decode(E' 8b1\n f\tc') AS spaced, code_decode('') = '' AS empty, code_encode(x'8b1fc') AS of_20,
       code_decode(encode(decode('ix/N6A==', 'base64'), 'hex')) = x'8b1fcde8' AS base64, encode(decode(code_encode(x'8b1fcd'), 'hex'), 'base64') AS of_24;
SELECT count(*) AS differ FROM (SELECT left(repeat(hashint8extended(i, 1)::bit(64)::text, 5), i)::varbit AS code, i FROM generate_series(0, 300, 4) AS i) AS c
WHERE code_decode(code_encode(code)) <> code OR code_encode(code) <> substr(encode(decode(rpad(code_encode(code), 76, '0'), 'hex'), 'hex'), 1, i / 4);
SELECT code_decode(NULL) IS NULL AS null_code, code_encode(NULL) IS NULL AS null_bits;
SELECT code_decode('0xff');
SELECT code_decode('45a50d70-45ba-41bc-99ae-2ad864512551');
SELECT code_decode(replace('45a50d70-45ba-41bc-99ae-2ad864512551', '-', ''));
SELECT code_decode('8b1g');
SELECT code_encode(B'10101');
-- The plain query with such a code uses the index, however the code is written.
CREATE TABLE coded AS SELECT i AS id, (hashint8extended(i, 1)::bit(64)::text || hashint8extended(i, 2)::bit(64)::text)::bit(128) AS code FROM generate_series(1, 5000) AS i;
CREATE INDEX coded_code ON coded USING hamming (code);
ANALYZE coded;
SELECT code_encode(code) AS hex FROM coded WHERE id = 7 \gset
EXPLAIN (COSTS OFF) SELECT id FROM coded WHERE hamming(code, code_decode('00000000000000000000000000000000')) <= 15;
SELECT id FROM coded WHERE hamming(code, code_decode(:'hex')) <= 15;
PREPARE near_code(text) AS SELECT id FROM coded WHERE hamming(code, code_decode($1)) <= 15;
EXPLAIN (COSTS OFF) EXECUTE near_code('00000000000000000000000000000000');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE near_code('00000000000000000000000000000000');
EXECUTE near_code(:'hex');
EXECUTE near_code('00');
RESET plan_cache_mode;
CREATE TABLE blocked AS SELECT code_encode(code) AS hex FROM coded WHERE id % 1000 = 7;
ANALYZE blocked;
EXPLAIN (COSTS OFF) SELECT id FROM blocked JOIN coded ON hamming(code, code_decode(hex)) <= 15;
SELECT id FROM blocked JOIN coded ON hamming(code, code_decode(hex)) <= 15 ORDER BY id;
DROP TABLE coded, blocked;
