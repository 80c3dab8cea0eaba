-- Fingerprints that follow their text

CREATE FUNCTION simhash_trigger() RETURNS trigger
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_pg_simhash_trigger';
COMMENT ON FUNCTION simhash_trigger() IS
    'sets a bigint column to the fingerprint of text columns: simhash_trigger(target, source [, ...] [, ''scheme=name''])';
