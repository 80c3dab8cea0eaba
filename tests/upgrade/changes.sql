-- Rows that change after the update.
DELETE FROM document WHERE id % 20 = 18;
UPDATE document SET body = made_text(id + 5) WHERE id % 20 = 19;
INSERT INTO document (id, body) SELECT i, made_text(i) FROM generate_series(2001, 2300) AS i;
UPDATE triggered SET body = made_text(id + 5) WHERE id % 20 = 19;
INSERT INTO different SELECT -id, si # 1 FROM different WHERE id < 100 ON CONFLICT DO NOTHING;
VACUUM ANALYZE;
