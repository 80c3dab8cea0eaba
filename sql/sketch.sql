-- Sketches: sets of hashes that stand for a text, sorted and distinct

CREATE FUNCTION manber_sketch(
    doc text,
    "window" integer DEFAULT 50,
    sample_bits integer DEFAULT 8,
    prime bigint DEFAULT 1425089352415399837,
    modulus bigint DEFAULT 2305843009213693951,
    divisor bigint DEFAULT 1,
    unit text DEFAULT 'byte',
    hash text DEFAULT 'polynomial'
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'manber_sketch_wrapper';
COMMENT ON FUNCTION manber_sketch(text, integer, integer, bigint, bigint, bigint, text, text) IS
    'hashes (polynomial, java, xxh3) of all windows of a text (of bytes or characters) whose lowest sample_bits bits are zero and which divisor divides (Manber 1994)';

CREATE FUNCTION winnow_sketch(doc text, k integer DEFAULT 50, w integer DEFAULT 100) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'winnow_sketch_wrapper';
COMMENT ON FUNCTION winnow_sketch(text, integer, integer) IS
    'of each w windows of k bytes the least hash: texts that share k + w - 1 bytes share a value (winnowing)';

CREATE FUNCTION heintze_sketch(
    doc text,
    size integer DEFAULT 100,
    length integer DEFAULT 32,
    frequent bigint[] DEFAULT '{}'
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000
    AS 'MODULE_PATHNAME', 'heintze_sketch_wrapper';
COMMENT ON FUNCTION heintze_sketch(text, integer, integer, bigint[]) IS
    'hashes of the substrings of so many letters that are probably the rarest (Heintze 1996); those known to be frequent, from the least to the most, come last';

CREATE FUNCTION sketch_resemblance(a bigint[], b bigint[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'sketch_resemblance_wrapper';
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[]) IS
    'shared values among all values of two sketches, 0 to 1; NULL if both are empty';

CREATE FUNCTION sketch_containment(a bigint[], b bigint[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
    AS 'MODULE_PATHNAME', 'sketch_containment_wrapper';
COMMENT ON FUNCTION sketch_containment(bigint[], bigint[]) IS
    'shared values among those of the first sketch, 0 to 1; NULL if it is empty';
