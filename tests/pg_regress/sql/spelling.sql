-- the rows of the Similarity Index paper, and the corners
SELECT si, simhash_encode(si), simhash_decode(simhash_encode(si)) = si AS back
FROM unnest('{4565828753376763011,1964999968704519315,2259985744163069059,0,1,-1,264,335,-9223372036854775808}'::bigint[]) AS si;
SELECT simhash_encode(264, 'doc1'), simhash_encode(264, 'word:3'), simhash_encode(264, scheme => NULL), simhash_encode(NULL, 'doc1');
SELECT simhash_encode(264, 'doc9');
-- every way in which one is read
SELECT text, simhash_decode(text)
FROM unnest(ARRAY['h5orkd3wjfoig', 'H5ORKD3WJFOIG', 'doc1:h5orkd3wjfoig', 'char:4:h5orkd3wjfoig', E' h5ork d3wjf oig\n',
    '3f5d150f76495c83', '3F5D150F76495C83', '0011111101011101000101010000111101110110010 010010101110010000011']) AS text;
SELECT count(*) FROM generate_series(1, 10000) AS i
WHERE simhash_decode(simhash_encode(hashint8extended(i, 1), 'doc1')) <> hashint8extended(i, 1)
   OR simhash_decode(lpad(to_hex(hashint8extended(i, 1)), 16, '0')) <> hashint8extended(i, 1)
   OR simhash_decode(hashint8extended(i, 1)::bit(64)::text) <> hashint8extended(i, 1);
SELECT simhash_decode(NULL);
-- and what is no fingerprint
SELECT simhash_decode('');
SELECT simhash_decode('h5orkd3wjfoi');
SELECT simhash_decode('h5orkd3wjfo1g');
SELECT simhash_decode('h5orkd3wjfoih');
SELECT simhash_decode('3f5d150f76495c8x');
SELECT simhash_decode(repeat('2', 64));
SELECT simhash_decode('doc9:h5orkd3wjfoig');
SELECT simhash_decode('word:99:h5orkd3wjfoig');
SELECT simhash_decode('42');
SELECT simhash_decode(repeat('a', 1000000));
