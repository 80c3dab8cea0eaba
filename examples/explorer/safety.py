"""What must be so before a row is read: no code of others runs with the rights of the explorer's role.

The search path is no way in: it is pg_catalog alone, and our functions are called by their schema, with arguments of
exactly their types. What is left is code that the table brings along. PostgreSQL runs the functions of a view and of
row security with the rights of whoever reads, and plans a query by computing constants in expressions of indexes,
statistics, constraints and keys of partitions. So those are looked at, in the transaction that reads.
(Generated columns are harmless: the stored ones are computed by writers, the virtual ones call only PostgreSQL's.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from .functions import FUNCTIONS

if TYPE_CHECKING:
    from typing import Any, LiteralString

SCRIPT = "examples/explorer/role.sql"
READER = f"Make a role that can only read the table: psql -v schema=... -v table=... -f {SCRIPT}."


class Unsuitable(Exception):
    """The table cannot be shown. The message says what to do."""


# Each returns a reason for a refusal in each row. %(table)s is an OID.
ROLE: LiteralString = """
    SELECT CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)
                THEN session_user || ' is a superuser'
                ELSE session_user || ' may become ' || rolname || ', which is a superuser or nearly one' END AS reason
    FROM pg_roles
    WHERE pg_has_role(session_user, oid, 'MEMBER')
      AND (rolsuper OR rolname IN ('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files'))
    LIMIT 1"""
# Objects of superusers, and of the role itself, are trusted.
TRUSTED: LiteralString = "(SELECT oid FROM pg_roles WHERE rolsuper OR rolname = session_user)"
OVERLOADS: LiteralString = (
    """SELECT 'the function ' || p.oid::regprocedure || ' is not the extension''s' AS reason
    FROM pg_proc AS p JOIN pg_extension AS e ON e.extnamespace = p.pronamespace AND e.extname = 'simhash_pg'
    WHERE proname = ANY(%(functions)s) AND proowner NOT IN """ + TRUSTED)
KIND: LiteralString = """
    SELECT oid::regclass || CASE relkind WHEN 'v' THEN ' is a view: its functions run with the rights of who reads it'
                                         WHEN 'f' THEN ' is a foreign table: its owner chooses what is asked elsewhere'
                                         ELSE ' has row security: its functions run with the rights of who reads it' END
           AS reason
    FROM pg_class AS c
    WHERE (oid = %(table)s AND (relkind = 'v' OR row_security_active(oid)))
       OR (oid = ANY(%(relations)s) AND relkind = 'f')"""
EXPRESSIONS: LiteralString = (
    """WITH object AS (
        SELECT 'pg_class'::regclass AS class, unnest(%(relations)s::oid[]) AS id
        UNION ALL SELECT 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = ANY(%(relations)s)
        UNION ALL SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = ANY(%(relations)s)
        UNION ALL SELECT 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext WHERE stxrelid = ANY(%(relations)s)),
    called AS (
        SELECT DISTINCT coalesce(o.oprcode, d.refobjid) AS function
        FROM object JOIN pg_depend AS d ON d.classid = class AND d.objid = id
            LEFT JOIN pg_operator AS o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
        WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass))
    SELECT 'an expression of the table calls ' || p.oid::regprocedure || ', of ' || pg_get_userbyid(proowner) AS reason
    FROM called JOIN pg_proc AS p ON p.oid = function WHERE proowner NOT IN """ + TRUSTED)
# The casts of a type are its owner's. A domain has the casts of its base type.
TYPES: LiteralString = (
    """WITH RECURSIVE type AS (
        SELECT attname, atttypid AS id FROM pg_attribute WHERE attrelid = %(table)s AND attname = ANY(%(columns)s)
        UNION ALL
        SELECT attname, typbasetype FROM type JOIN pg_type ON oid = id WHERE typtype = 'd')
    SELECT 'the column ' || attname || ' has the type ' || id::regtype || ', of ' || pg_get_userbyid(typowner) AS reason
    FROM type JOIN pg_type ON oid = id WHERE typtype <> 'd' AND typowner NOT IN """ + TRUSTED)
RELATIONS: LiteralString = """
    WITH RECURSIVE r AS (SELECT %(table)s::oid AS id
                         UNION SELECT inhrelid FROM r JOIN pg_inherits ON inhparent = id)
    SELECT array_agg(id) AS relations FROM r"""


def restrict(connection: psycopg.Connection[Any], timeout: str) -> None:
    """Settings of the transaction: stronger than settings of the role, of the database and of the user's options.

    pg_temp comes last: where it is not named, its tables hide tables of the catalog.
    """
    connection.execute(
        psycopg.sql.SQL("SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL statement_timeout = {}").format(timeout)
    )


def check(connection: psycopg.Connection[Any], table: int, columns: list[str]) -> None:
    """Raises Unsuitable if code of others could run."""
    row = connection.execute(RELATIONS, {"table": table}).fetchone()
    values = {
        "table": table, "columns": columns, "functions": list(FUNCTIONS.values()), "relations": row[0] if row else [],
    }
    for query in (ROLE, OVERLOADS, KIND, EXPRESSIONS, TYPES):
        found = connection.execute(query, values).fetchone()
        if found:
            raise Unsuitable(
                f"Not shown, because code that a table hides could do all that your role may: {found[0]}. {READER}"
                " TRUST=yes shows the table nevertheless."
                if query is ROLE
                else f"Not shown, because code of others could run with the rights of your role: {found[0]}."
                " Whoever has read that code and trusts its owner says TRUST=yes."
            )
