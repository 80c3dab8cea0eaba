-- English text in tables of 20 MB: in rows of 1 to 100 KB, inline or in the TOAST table, as it stands or compressed.
CREATE TABLE place (number integer GENERATED ALWAYS AS IDENTITY, storage text, kb integer, rows text);
INSERT INTO place (storage, kb)
VALUES ('inline', 1), ('inline', 5), ('external', 5), ('external', 20), ('external', 100);
-- What the server was built with: pglz, and mostly lz4.
INSERT INTO place (storage, kb)
SELECT method, kb FROM pg_settings, unnest(enumvals) AS method, unnest('{5,100}'::integer[]) AS kb
WHERE name = 'default_toast_compression' ORDER BY method, kb;
UPDATE place SET rows = format('rows_%s_%s', storage, kb);

-- As bytes, which are cut faster than characters.
CREATE TABLE licences (body bytea);
ALTER TABLE licences ALTER body SET STORAGE EXTERNAL;
INSERT INTO licences
SELECT string_agg(pg_read_binary_file('/usr/share/common-licenses/' || name), '' ORDER BY name)
FROM pg_ls_dir('/usr/share/common-licenses') AS name;

DO $$
DECLARE
    rows text;
    kb integer;
    storage text;
BEGIN
    FOR rows, kb, storage IN SELECT p.rows, p.kb, p.storage FROM place AS p LOOP
        EXECUTE format('CREATE TABLE %I (body text)', rows);
        EXECUTE format(CASE storage
            WHEN 'inline' THEN 'ALTER TABLE %I ALTER body SET STORAGE PLAIN'
            WHEN 'external' THEN 'ALTER TABLE %I ALTER body SET STORAGE EXTERNAL'
            ELSE 'ALTER TABLE %I ALTER body SET COMPRESSION %I' END, rows, storage);
        EXECUTE format($insert$
            INSERT INTO %I
            SELECT convert_from(substr(body, 1 + (i * 7919 * $1) %% (octet_length(body) - $1 * 1000), $1 * 1000), 'LATIN1')
            FROM licences, generate_series(1, 20000 / $1) AS i$insert$, rows) USING kb;
    END LOOP;
END $$;
VACUUM ANALYZE;
