-- What the generated queries of 016 are about. Table base comes from the test: (n, grp, si, other).
-- For strings of bits, the test writes their type in the place of bigint, and hamming in the place of gist.
-- The same text of a query means the extension with search_path = ours, public, and arithmetic with
-- search_path = arithmetic, public: a name that is missing there is an error, never silently the extension's.
CREATE SCHEMA ours;
CREATE EXTENSION simhash_pg SCHEMA ours;
CREATE SCHEMA arithmetic;
SET search_path = arithmetic, public;

CREATE FUNCTION hamming(a bigint, b bigint) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE LEAKPROOF
	AS 'SELECT bit_count((a # b)::bit(64))::integer';
CREATE FUNCTION hamming_within(a bigint, b bigint, radius integer) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE LEAKPROOF
	AS 'SELECT bit_count((a # b)::bit(64))::integer <= radius';
CREATE FUNCTION hamming_similarity(a bigint, b bigint) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE LEAKPROOF
	AS 'SELECT (64 - bit_count((a # b)::bit(64)))::double precision / 64';
CREATE OPERATOR <~> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hamming);
CREATE TYPE hamming_ball AS (center bigint, radius integer);
CREATE FUNCTION hamming_ball(center bigint, radius integer) RETURNS hamming_ball LANGUAGE sql IMMUTABLE PARALLEL SAFE LEAKPROOF
	AS 'SELECT ROW(center, radius)::hamming_ball';
CREATE FUNCTION contained(a bigint, ball hamming_ball) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE LEAKPROOF
	AS 'SELECT bit_count((a # ball.center)::bit(64)) <= ball.radius';
CREATE OPERATOR <@ (LEFTARG = bigint, RIGHTARG = hamming_ball, FUNCTION = contained);

-- Each table has one kind of index, so that the planner has no other. Ids differ from table to table.
SET search_path = ours, public;
CREATE TABLE public.parted (id integer NOT NULL, grp integer, si bigint, other bigint) PARTITION BY HASH (id);
CREATE TABLE public.part_0 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE public.part_1 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE public.part_2 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 2);
DO $$
DECLARE
	tables text[] := '{plain,boxed,covering,tenants,pairs,partial,computed,several,nothing,family,balls}';
BEGIN
	FOR i IN 1..cardinality(tables) LOOP
		EXECUTE format('CREATE TABLE public.%I (id integer NOT NULL, grp integer, si bigint, other bigint)', tables[i]);
		EXECUTE format('INSERT INTO %I SELECT n + 10000 * %s, grp, si, other FROM base WHERE %L <> ''nothing''', tables[i], i, tables[i]);
	END LOOP;
END $$;
INSERT INTO parted SELECT n + 200000, grp, si, other FROM base;
CREATE TABLE public.child_1 () INHERITS (public.family);
CREATE TABLE public.child_2 () INHERITS (public.family);
INSERT INTO child_1 SELECT n + 300000, grp, other, si FROM base;
INSERT INTO child_2 SELECT n + 310000, grp, (si # 5::bigint)::bigint, other FROM base;
CREATE VIEW public.united AS SELECT * FROM plain UNION ALL SELECT * FROM boxed WHERE grp <> 2 UNION ALL SELECT * FROM nothing;

-- Up to _idx is the name of the kind. Half filled, so that there are several leaves.
CREATE INDEX hamming_idx ON plain USING hamming (si) WITH (fillfactor = 50);
CREATE INDEX balls_idx ON balls USING hamming (hamming_ball(si, 5)) WITH (fillfactor = 50);
CREATE INDEX gist_idx ON boxed USING gist (si gist_hamming_ops) WITH (fillfactor = 50);
CREATE INDEX include_idx ON covering USING gist (si gist_hamming_ops) INCLUDE (id, grp);
CREATE INDEX multicolumn_idx ON pairs USING gist (other gist_hamming_ops, si gist_hamming_ops) WITH (fillfactor = 50);
CREATE INDEX partial_idx_hamming ON partial USING hamming (si) WHERE grp < 5;
CREATE INDEX partial_idx_gist ON partial USING gist (si gist_hamming_ops) WHERE grp > 4;
CREATE INDEX expression_idx_hamming ON computed USING hamming (((si # other)::bigint));
CREATE INDEX expression_idx_gist ON computed USING gist (((si # 21::bigint)::bigint) gist_hamming_ops);
CREATE INDEX several_idx_hamming ON several USING hamming (si, grp);
CREATE INDEX several_idx_gist ON several USING gist (si gist_hamming_ops);
CREATE INDEX several_btree ON several (si);
CREATE INDEX empty_idx ON nothing USING hamming (si);
CREATE INDEX partition_idx_0 ON part_0 USING hamming (si);
CREATE INDEX partition_idx_1 ON part_1 USING gist (si gist_hamming_ops);
CREATE INDEX partition_idx_2 ON part_2 USING hamming (si, grp);
CREATE INDEX inheritance_idx_0 ON family USING hamming (si);
CREATE INDEX inheritance_idx_1 ON child_1 USING hamming (si);
CREATE INDEX inheritance_idx_2 ON child_2 USING gist (si gist_hamming_ops);
-- With contrib, a tenant's index; without it the same as pairs', so that the name exists.
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'btree_gist') THEN
		CREATE EXTENSION btree_gist SCHEMA public;
		CREATE INDEX tenant_idx ON tenants USING gist (grp, si gist_hamming_ops) WITH (fillfactor = 50);
	ELSE
		CREATE INDEX tenant_idx ON tenants USING gist (si gist_hamming_ops, other gist_hamming_ops) WITH (fillfactor = 50);
	END IF;
END $$;

-- What has distances in its definition exists twice, by the same text.
CREATE ROLE reader;
DO $$
DECLARE
	meaning text;
BEGIN
	FOREACH meaning IN ARRAY '{ours,arithmetic}'::text[] LOOP
		PERFORM set_config('search_path', meaning || ', public', true);
		EXECUTE 'CREATE VIEW close AS SELECT id, grp, si, other FROM several WHERE hamming(other, 7::bigint) <= 34';
		EXECUTE 'CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM plain WHERE hamming(other, 0::bigint) > 20';
		EXECUTE 'CREATE TABLE secured AS SELECT n + 400000 AS id, grp, si, other FROM base';
		EXECUTE 'ALTER TABLE secured ENABLE ROW LEVEL SECURITY';
		EXECUTE 'CREATE POLICY own ON secured USING (grp <> 3 AND hamming(other, 9::bigint) <= 36)';
		EXECUTE format('GRANT USAGE ON SCHEMA %I TO reader', meaning);
		EXECUTE format('GRANT ALL ON ALL TABLES IN SCHEMA %I, public TO reader', meaning);
	END LOOP;
END $$;
CREATE INDEX secured_idx ON ours.secured USING hamming (si);
VACUUM ANALYZE;
