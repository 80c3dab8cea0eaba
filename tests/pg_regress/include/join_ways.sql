-- Each query of join_query by a nested loop and by a near join, with enough memory and with little: the number of rows, and
-- what they are.
SET simhash_pg.enable_near_join = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CREATE TABLE join_truth AS SELECT number, join_answer(query) AS answer, join_plan(query) AS plan FROM join_query;
RESET simhash_pg.enable_near_join;
RESET enable_hashjoin;
SET enable_nestloop = off;
SELECT plan.plan, truth.plan, count(*), sum(split_part(answer, ' ', 1)::bigint) AS rows, sum((join_answer(query) <> answer)::integer) AS wrong
FROM join_query JOIN join_truth AS truth USING (number), join_plan(query) AS plan GROUP BY 1, 2 ORDER BY 1, 2;
-- With files.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT sum((join_answer(query) <> answer)::integer) AS wrong FROM join_query JOIN join_truth USING (number);
RESET work_mem;
RESET hash_mem_multiplier;
