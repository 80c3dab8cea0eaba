-- Sketches: sets of hashes that stand for a text, sorted and distinct

CREATE FUNCTION manber_sketch(
    doc text,
    length integer DEFAULT 50,
    sample_bits integer DEFAULT 8,
    prime bigint DEFAULT 1425089352415399837,
    modulus bigint DEFAULT 2305843009213693951,
    divisor bigint DEFAULT 1,
    unit text DEFAULT 'byte',
    hash text DEFAULT 'polynomial'
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_manber_sketch';
COMMENT ON FUNCTION manber_sketch(text, integer, integer, bigint, bigint, bigint, text, text) IS
    'hashes of all windows of a text, of bytes or characters, whose lowest sample_bits bits are zero and which are divisible by divisor (Manber 1994)';

CREATE FUNCTION winnow_sketch(doc text, length integer DEFAULT 50, span integer DEFAULT 100) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_winnow_sketch';
COMMENT ON FUNCTION winnow_sketch(text, integer, integer) IS
    'the smallest hash of any span consecutive windows of length bytes; texts that share length + span - 1 bytes have a value in common (winnowing)';

CREATE FUNCTION excerpt_sketch(doc text, min_length integer DEFAULT 100) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_excerpt_sketch';
COMMENT ON FUNCTION excerpt_sketch(text, integer) IS
    'sketch by which an index finds every text that shares min_length characters; a winnow_sketch with windows of half that length';

CREATE FUNCTION heintze_sketch(
    doc text,
    size integer DEFAULT 100,
    length integer DEFAULT 32,
    frequent bigint[] DEFAULT '{}'
) RETURNS bigint[]
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_heintze_sketch';
COMMENT ON FUNCTION heintze_sketch(text, integer, integer, bigint[]) IS
    'hashes of the substrings of length letters that are probably the rarest (Heintze 1996); values in frequent, from the least to the most frequent, are chosen last';

CREATE FUNCTION sketch_similarity(a bigint[], b bigint[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_similarity';
COMMENT ON FUNCTION sketch_similarity(bigint[], bigint[]) IS
    'number of common values divided by the number of all values of two sketches, 0 to 1; NULL if both are empty';

CREATE FUNCTION sketch_containment(a bigint[], b bigint[]) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_containment';
COMMENT ON FUNCTION sketch_containment(bigint[], bigint[]) IS
    'number of common values divided by the number of values of the first sketch, 0 to 1; NULL if it is empty';

-- Comparisons of shares become sketch_similar and sketch_contained. Servers that share a query (postgres_fdw) send these
-- functions to each other, so their names and meanings never change.
CREATE FUNCTION sketch_overlaps(a bigint[], b bigint[]) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_overlaps';
COMMENT ON FUNCTION sketch_overlaps(bigint[], bigint[]) IS
    'whether two arrays have a value in common, in linear time if they are sorted; supported by indexes that support a && b';

CREATE FUNCTION sketch_similar(a bigint[], b bigint[], similarity double precision) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_similar';
COMMENT ON FUNCTION sketch_similar(bigint[], bigint[], double precision) IS
    'sketch_similarity(a, b) >= similarity, in the form that the planner uses';

CREATE FUNCTION sketch_contained(a bigint[], b bigint[], containment double precision) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 SUPPORT sketch_support
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_contained';
COMMENT ON FUNCTION sketch_contained(bigint[], bigint[], double precision) IS
    'sketch_containment(a, b) >= containment, in the form that the planner uses';

CREATE FUNCTION sketch_above(number double precision) RETURNS double precision
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 1
    AS 'MODULE_PATHNAME', 'simhash_pg_sketch_above';
COMMENT ON FUNCTION sketch_above(double precision) IS
    'smallest number greater than this one; the planner uses it for conditions with >';
