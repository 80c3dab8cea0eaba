"""psycopg 3, with parameters bound by the server and by the client."""

import psycopg

QUERY = "SELECT id FROM document WHERE hamming(si, %s) <= %s ORDER BY id"

with psycopg.connect("user=postgres dbname=postgres", autocommit=True) as connection:
    (value,) = connection.execute("SELECT si FROM document WHERE id = 101").fetchone()
    for cursor_type in (psycopg.Cursor, psycopg.ClientCursor):
        with cursor_type(connection) as cursor:
            # Small numbers travel as smallint; from the sixth time on, the statement is prepared.
            for query, radius in [(value, 3), (42, 3)] + 8 * [(value, 3)]:
                rows = cursor.execute(QUERY, (query, radius)).fetchall()
            assert (101,) in rows and len(rows) == 50, rows
print("queries: 20")
