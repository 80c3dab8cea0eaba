"""What is checked before a table is read, and again after a page has read it: whose code could run, and as whom.

A table can contain code. PostgreSQL executes the functions of a view and of row-level security policies with the
privileges of the role that reads it, and when it plans a query, it evaluates expressions of indexes, statistics,
constraints and partition keys. The owner of the table can add such code at any time, even between two statements of one
transaction. Therefore the role of the explorer must not be able to do anything that the owner of the table cannot do:
it may read this table, and has no other privileges. Any other role is refused, unless the user trusts the owner of the
table by name.

Within these limits, code of others is refused as well, in the transaction that reads. The search path is no way in: it
is pg_catalog alone, and the functions of the extension are called by their schema, with arguments of exactly their
types. (Generated columns are harmless: stored ones are computed by writers, and virtual ones call only PostgreSQL's
functions.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from .functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, LiteralString

SCRIPT = "examples/explorer/role.sql"
READER = f"Create a role that can only read the table: psql -v schema=... -v table=... -f {SCRIPT}."


class Unsuitable(Exception):
    """The table cannot be shown. The message says what to do."""


# Each row that these return is a reason for a refusal, and the roles one would have to trust. %(table)s is an OID.
#
# PostgreSQL records in pg_shdepend, for all databases, what a role owns and which privileges it was granted. What is
# granted to PUBLIC is not among them, and is no reason: the owner of the table has it, too.
ROLE: LiteralString = """
    WITH me AS (SELECT * FROM pg_roles WHERE rolname = session_user),
    here AS (SELECT oid FROM pg_database WHERE datname = current_database()),
    needed AS (
        SELECT 'pg_class'::regclass AS class, unnest(%(relations)s::oid[]) AS id
        UNION ALL SELECT 'pg_namespace'::regclass, relnamespace FROM pg_class WHERE oid = %(table)s
        UNION ALL SELECT 'pg_namespace'::regclass, extnamespace FROM pg_extension WHERE extname = 'simhash_pg'
        UNION ALL SELECT 'pg_database'::regclass, oid FROM here),
    reason (place, reason) AS (
        SELECT 1, 'is a superuser' FROM me WHERE rolsuper
        UNION ALL
        SELECT 2, 'has the attribute ' || name
        FROM me, LATERAL (VALUES ('BYPASSRLS', rolbypassrls), ('CREATEROLE', rolcreaterole),
                                 ('CREATEDB', rolcreatedb), ('REPLICATION', rolreplication)) AS a (name, has)
        WHERE has
        UNION ALL
        SELECT 3, 'is a member of ' || r.rolname FROM pg_roles AS r, me
        WHERE r.oid <> me.oid AND pg_has_role(me.oid, r.oid, 'MEMBER')
        UNION ALL
        SELECT 4, CASE deptype WHEN 'o' THEN 'owns ' ELSE 'has privileges on ' END
                  || CASE WHEN dbid NOT IN (0, here.oid) THEN 'an object of another database'
                          ELSE coalesce(pg_describe_object(classid, objid, objsubid), 'an object') END
        FROM pg_shdepend, me, here
        WHERE refclassid = 'pg_authid'::regclass AND refobjid = me.oid AND deptype IN ('o', 'a')
          AND (deptype = 'o' OR dbid NOT IN (0, here.oid)
               OR NOT EXISTS (SELECT FROM needed WHERE class = classid AND id = objid)))
    SELECT session_user || ' ' || reason AS reason, %(owners)s::text[] AS roles FROM reason ORDER BY place LIMIT 1"""
# Objects of superusers, of the role itself, and of the roles that the user trusts by name.
TRUSTED: LiteralString = (
    "(SELECT oid FROM pg_roles WHERE rolsuper OR rolname = session_user OR rolname = ANY(%(trusted)s))")
OVERLOADS: LiteralString = (
    """SELECT 'the function ' || p.oid::regprocedure || ' is not the extension''s' AS reason,
           ARRAY[pg_get_userbyid(proowner)::text] AS roles
    FROM pg_proc AS p JOIN pg_extension AS e ON e.extnamespace = p.pronamespace AND e.extname = 'simhash_pg'
    WHERE proname = ANY(%(functions)s) AND proowner NOT IN """ + TRUSTED)
KIND: LiteralString = """
    SELECT oid::regclass || CASE relkind WHEN 'v' THEN ' is a view: its functions run with the reader''s privileges'
                                         WHEN 'f' THEN ' is a foreign table: its owner chooses where queries are sent'
                                         ELSE ' has row security: its functions run with the reader''s privileges' END
           AS reason, ARRAY[pg_get_userbyid(relowner)::text] AS roles
    FROM pg_class AS c
    WHERE ((oid = %(table)s AND (relkind = 'v' OR row_security_active(oid)))
           OR (oid = ANY(%(relations)s) AND relkind = 'f'))
      AND pg_get_userbyid(relowner) <> ALL(%(trusted)s)"""
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
    SELECT 'an expression of the table calls ' || p.oid::regprocedure || ', of ' || pg_get_userbyid(proowner) AS reason,
           ARRAY[pg_get_userbyid(proowner)::text] AS roles
    FROM called JOIN pg_proc AS p ON p.oid = function WHERE proowner NOT IN """ + TRUSTED)
# The casts of a type are its owner's. A domain has the casts of its base type.
TYPES: LiteralString = (
    """WITH RECURSIVE type AS (
        SELECT attname, atttypid AS id FROM pg_attribute WHERE attrelid = %(table)s AND attname = ANY(%(columns)s)
        UNION ALL
        SELECT attname, typbasetype FROM type JOIN pg_type ON oid = id WHERE typtype = 'd')
    SELECT 'the column ' || attname || ' has the type ' || id::regtype || ', of ' || pg_get_userbyid(typowner)
           AS reason, ARRAY[pg_get_userbyid(typowner)::text] AS roles
    FROM type JOIN pg_type ON oid = id WHERE typtype <> 'd' AND typowner NOT IN """ + TRUSTED)
RELATIONS: LiteralString = """
    WITH RECURSIVE r AS (SELECT %(table)s::oid AS id
                         UNION SELECT inhrelid FROM r JOIN pg_inherits ON inhparent = id)
    SELECT array_agg(id) AS relations, array_agg(DISTINCT pg_get_userbyid(relowner)::text) AS owners
    FROM r JOIN pg_class ON oid = id"""


def restrict(connection: psycopg.Connection[Any], timeout: str) -> None:
    """Settings of the transaction: stronger than settings of the role, of the database and of the user's options.

    pg_temp comes last: where it is not named, its tables hide tables of the catalog.
    """
    connection.execute(
        psycopg.sql.SQL("SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL statement_timeout = {}").format(timeout)
    )


def check(connection: psycopg.Connection[Any], table: int, columns: list[str], trusted: Sequence[str]) -> None:
    """Raises Unsuitable if code of others could run, or if the role may do more than read the table.

    The roles that are trusted are those whose code may run with the privileges of the explorer's role.
    """
    found = connection.execute(RELATIONS, {"table": table}).fetchone()
    relations, owners = found or ([], [])
    values = {
        "table": table, "columns": columns, "functions": list(FUNCTIONS.values()), "relations": relations,
        "owners": owners, "trusted": list(trusted),
    }
    for query in (ROLE, OVERLOADS, KIND, EXPRESSIONS, TYPES):
        if query is ROLE and set(owners) <= set(trusted):
            continue
        found = connection.execute(query, values).fetchone()
        if found:
            reason, roles = found
            names = ",".join(dict.fromkeys([*trusted, *roles]))
            raise Unsuitable(
                f"Not shown, because the owner of the table could do whatever your role may do: {reason}. {READER}"
                f" If you trust the owner with all privileges of your role: TRUST={names}."
                if query is ROLE
                else f"Not shown, because code of others could run with the privileges of your role: {reason}."
                f" If you have read that code and trust its owner: TRUST={names}."
            )
