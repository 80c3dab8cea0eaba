-- every scheme, with a fingerprint that must never change
SELECT * FROM simhash_schemes();
SELECT name, simhash(example, example_scheme) = fingerprint AS holds FROM simhash_schemes();
-- features, in the order of the text
SELECT * FROM simhash_features('To be, or not to be', 'word:1');
SELECT feature, occurrences FROM simhash_features('Reports of 1994: see https://example.org/a, the annual report of reports', 'doc1');
SELECT feature, hash FROM simhash_features('Hello', 'commoncrawl');
SELECT feature FROM simhash_features('naïve', 'char:3');
SELECT feature FROM simhash_features('日本語', 'doc1');
-- doc2 chooses a feature twice as often for each long word in it: more than three bytes, or an ideograph
SELECT feature, weight, occurrences FROM simhash_features('the old harbour, 日本 and the old harbour', 'doc2');
SELECT feature, weight, occurrences FROM simhash_features('the old harbour of the 日本', 'simhash-doc');
SELECT count(*) FROM simhash_features('') UNION ALL SELECT count(*) FROM simhash_features(NULL) UNION ALL SELECT count(*) FROM simhash_features('42');
SELECT count(*), sum(occurrences), count(DISTINCT hash) FROM simhash_features(repeat('all work and no play ', 1000), 'word:3');
-- why two fingerprints differ
SELECT jsonb_pretty(simhash_explain('the quick brown fox jumps', 'the quick brown cat jumps', 'word:1') - 'bits');
SELECT bit, a > 0 AS set_in_a, b > 0 AS set_in_b, abs(a) + abs(b) AS strength
FROM jsonb_to_recordset(simhash_explain('the quick brown fox jumps', 'the quick brown cat jumps', 'word:1') -> 'bits') AS bits (bit integer, votes jsonb),
     LATERAL (SELECT (votes ->> 'a')::integer AS a, (votes ->> 'b')::integer AS b) AS v;
SELECT (e ->> 'distance')::integer = hamming(simhash(a, scheme), simhash(b, scheme)) AS distance,
       jsonb_array_length(e -> 'bits') = (e ->> 'distance')::integer AS bits,
       (e -> 'fingerprints' ->> 'a')::bigint = simhash(a, scheme) AS of_a, (e -> 'fingerprints' ->> 'b')::bigint = simhash(b, scheme) AS of_b,
       (e -> 'features' ->> 'shared')::integer = (SELECT count(*) FROM simhash_features(a, scheme) AS of_a JOIN simhash_features(b, scheme) AS of_b USING (hash)) AS shared
FROM (VALUES ('doc2'), ('doc1'), ('simhash-doc'), ('commoncrawl'), ('char:4'), ('word:2')) AS s (scheme),
     (VALUES ('It was a bright cold day in April, and the clocks were striking thirteen.',
              'It was a bright warm day in April, and the bells were striking twelve!')) AS t (a, b),
     LATERAL simhash_explain(a, b, scheme) AS e;
-- with doc2, a bit comes from one feature of each text
SELECT jsonb_pretty(simhash_explain('the quick brown fox jumps', 'the quick brown cat jumps') - 'bits');
SELECT bit, features ->> 'a' AS a, features ->> 'b' AS b
FROM jsonb_to_recordset(simhash_explain('the quick brown fox jumps', 'the quick brown cat jumps', 'doc2') -> 'bits') AS bits (bit integer, features jsonb);
SELECT simhash_explain('same', 'same'), simhash_explain('', 'text') -> 'distance' AS nothing, simhash_explain(NULL, 'text') AS null;
SELECT simhash_explain('a"b\c' || chr(9) || 'd', 'x', 'char:7') -> 'deciding' -> 0 ->> 'feature' AS quoted;
-- errors
SELECT * FROM simhash_features('a', 'doc9');
SELECT simhash_explain('a', 'b', 'char:0');
SELECT count(*) FROM simhash_features((SELECT string_agg(i::text, ' ') FROM generate_series(1, 1000001) AS i), 'word:1');
