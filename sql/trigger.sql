-- Fingerprints that follow their text

CREATE FUNCTION simhash_trigger() RETURNS trigger
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_trigger_doc2';
COMMENT ON FUNCTION simhash_trigger() IS
    'sets a bigint column to the fingerprint of text columns: simhash_trigger(target, source [, ...] [, ''scheme=name''])';

-- What was made with simhash_trigger in 0.1.0 uses this function instead, and keeps its meaning.
CREATE FUNCTION simhash_trigger_v0_1() RETURNS trigger
    LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 2000
    AS 'MODULE_PATHNAME', 'simhash_trigger';
COMMENT ON FUNCTION simhash_trigger_v0_1() IS
    'what simhash_trigger meant in 0.1.0, with doc1 as its default, for triggers that were made with it';
