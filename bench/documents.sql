-- The same for fingerprints of real text: pieces of 2,000 characters, every 1,000, of the text files that Debian's
-- packages bring. Called with -v files=PATH, a list of them.
CREATE TABLE file (path text);
COPY file FROM :'files';
CREATE TABLE piece AS
SELECT row_number() OVER ()::integer AS id, simhash(substr(body, start, 2000), 'word:2') AS si
FROM (SELECT convert_from(pg_read_binary_file(path), 'LATIN1') AS body FROM file) AS f,
     generate_series(1, greatest(length(body) - 1000, 1), 1000) AS start;
CREATE INDEX piece_hamming ON piece USING hamming (si);
VACUUM ANALYZE piece;
SELECT count(*) AS pieces, count(DISTINCT si) AS distinct_fingerprints, avg(bit_count(si::bit(64)))::numeric(4, 2) AS bits_set FROM piece;
CREATE TABLE measured_documents AS
SELECT radius, index.*, scan.ms AS scan_ms
FROM unnest('{3,6,10,12}'::integer[]) AS radius,
     LATERAL (
         SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.ms) AS ms, percentile_cont(0.5) WITHIN GROUP (ORDER BY m.pages) AS pages,
                percentile_cont(0.5) WITHIN GROUP (ORDER BY m.rows) AS rows, percentile_cont(0.95) WITHIN GROUP (ORDER BY m.ms) AS ms_95
         FROM (SELECT si FROM piece WHERE si IS NOT NULL ORDER BY hashint4(id) LIMIT 1000) AS q,
              run_once(format('SELECT id FROM piece WHERE hamming(si, %s) <= %s', si, radius)) AS m) AS index,
     LATERAL run_once(format('SELECT id FROM piece WHERE hamming(si, %s) + 0 <= %s', (SELECT min(si) FROM piece), radius)) AS scan;
SELECT radius, round(ms::numeric, 3) AS "ms, median", round(ms_95::numeric, 3) AS "ms, 95 %", pages, rows, round(scan_ms::numeric, 1) AS "scan, ms",
       round((scan_ms / ms)::numeric) AS "times faster" FROM measured_documents ORDER BY radius;
