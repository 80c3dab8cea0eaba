-- Sketches: sets of hashes that stand for a text, sorted and distinct

CREATE FUNCTION manber_sketch(
    doc text,
    "window" integer DEFAULT 50,
    sample_bits integer DEFAULT 8,
    prime bigint DEFAULT 1425089352415399837,
    modulus bigint DEFAULT 2305843009213693951
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
    AS 'MODULE_PATHNAME', 'manber_sketch_wrapper';
COMMENT ON FUNCTION manber_sketch(text, integer, integer, bigint, bigint) IS
    'hashes of all windows of a text whose lowest sample_bits bits are zero (Manber 1994)';

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
