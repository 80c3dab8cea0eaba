-- Six tables for hamming_histogram. Called with -v folder=PATH -v rows=N.
CREATE EXTENSION simhash_pg;
SELECT :'folder' || '/generated.page' AS page, :'folder' || '/titles' AS titles, :'folder' || '/pictures' AS pictures \gset
CREATE TABLE page (id bigint, kind text, change text, origin bigint, body text);
COPY page FROM :'page';
CREATE TABLE title (body text);
COPY title FROM :'titles' DELIMITER E'\x01' CSV QUOTE E'\x02';
CREATE TABLE picture (phash bit(64), pdq bit(256));
COPY picture FROM :'pictures';

CREATE TABLE scattered AS SELECT hashint8extended(i, 1) AS code FROM generate_series(1, :rows) AS i;
CREATE TABLE clustered AS SELECT body, simhash(body) AS code FROM page WHERE kind = 'clean';
CREATE TABLE templated AS SELECT body, simhash(body) AS code FROM page WHERE kind = 'templated';
CREATE TABLE short_texts AS SELECT body, simhash(body) AS code FROM title WHERE array_length(string_to_array(body, ' '), 1) BETWEEN 5 AND 30;
CREATE TABLE phash AS SELECT phash AS code FROM picture;
CREATE TABLE pdq AS SELECT pdq AS code FROM picture;
