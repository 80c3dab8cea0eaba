"""Code of others in the database: it is not run with the privileges of the explorer's role, or the table is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from explorer.safety import Unsuitable, restrict
from explorer.table import Table, Wanted, find_functions, find_table

from .conftest import READER, served_as, serving
from .corpus import REPORTS, versions
from .test_server import ask, post

OWNER = Wanted("dbname=shared user=postgres", "mine.document", trust=("mallory",))
# Two roles of the database shared. The first can only read the table document, the second another one of a test.
READS = Wanted("dbname=shared user=reader", "mine.document")
OTHER = Wanted("dbname=shared user=other", "mine.trap", "body", "si", "id", scheme="doc2")
PAGES = ["/", "/document?key=1", "/compare?a=1&b=2", "/clusters?radius=10", "/cluster?radius=10&keeper=1", "/distances"]

# It works for mallory, who makes indexes with it, and gives itself away to all others.
HOSTILE = """
CREATE FUNCTION {name} RETURNS {returns} LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_user <> 'mallory' THEN RAISE EXCEPTION 'hostile code ran as %', current_user; END IF;
    RETURN NULL;
END $$"""
# Each fits the types of the columns better than PostgreSQL's function, or than one of the extension.
OVERLOADS = {
    "left(character varying, integer)": "text", "length(character varying)": "integer",
    "text(character varying)": "text", "coalesced(character varying)": "text", "hamming(integer, bigint)": "integer",
    "hamming(bigint, integer)": "integer", "simhash(character varying, text)": "bigint",
    "simhash(character varying, character varying)": "bigint", "array_agg(bigint)": "bigint[]",
    "shared_passages(character varying, character varying, integer)": "integer",
    "passage_headline(character varying, character varying, integer, character varying)": "text",
    "near_cluster(integer, bigint, integer)": "integer",
    "near_cluster(integer, bigint, integer, text)": "integer",
    "near_differences(text, text, text, integer, text, integer)": "integer", "hamming_histogram(text, text)": "integer",
    "same(integer, character varying)": "boolean",
}
OPERATOR = "CREATE OPERATOR {schema}.= (LEFTARG = integer, RIGHTARG = character varying, FUNCTION = {schema}.same)"


def hostile(schema: str, name: str, returns: str) -> str:
    return HOSTILE.format(name=f"{schema}.{name}", returns=returns)


@pytest.fixture(scope="module")
def shared(owner: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """A database in which an ordinary user has installed the extension, in a schema of her own."""
    owner.execute("CREATE ROLE mallory; CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN")
    owner.execute("CREATE DATABASE shared OWNER mallory")
    with psycopg.connect(dbname="shared", user="postgres", autocommit=True) as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO mallory")
        connection.execute("SET SESSION AUTHORIZATION mallory")
        connection.execute(
            """CREATE SCHEMA mine;
               CREATE EXTENSION simhash_pg SCHEMA mine;
               GRANT USAGE ON SCHEMA mine TO reader, other;
               CREATE TABLE mine.document (id integer PRIMARY KEY, title varchar, body varchar, si bigint);
               GRANT SELECT ON mine.document TO reader"""
        )
        texts = [text for report in REPORTS.values() for text in versions(report)]
        connection.cursor().executemany(
            "INSERT INTO mine.document VALUES (%s, 'a title', %s, mine.simhash(%s))",
            [(number, text, text) for number, text in enumerate(texts, 1)],
        )
        connection.execute("CREATE INDEX ON mine.document USING hamming (si)")
        yield connection


def look_at_all(wanted: Wanted) -> None:
    """Asks for every page, and for a search: none may say that the hostile function ran."""
    with served_as(wanted) as site:
        for path in PAGES:
            response, page = ask(site, path)
            assert "hostile" not in page and response.status == 200, path
        response, page = post(site, REPORTS["Ferry terminal closed"].encode())
        assert "hostile" not in page and response.status == 200


@pytest.mark.parametrize("schema", ["mine", "public"])
def test_an_overload_is_not_run(shared: psycopg.Connection, schema: str) -> None:
    for name, returns in OVERLOADS.items():
        shared.execute(hostile(schema, name, returns).encode())
    shared.execute(OPERATOR.format(schema=schema).encode())
    try:
        shared.execute("SET SESSION AUTHORIZATION DEFAULT")
        shared.execute("ALTER DATABASE shared SET search_path = public, mine, pg_catalog")
        look_at_all(OWNER)
        if schema == "mine":
            with pytest.raises(Unsuitable, match="is not the extension's"):
                find_table(READS)
        else:
            look_at_all(READS)
    finally:
        shared.execute("RESET search_path; ALTER DATABASE shared RESET search_path")
        shared.execute("SET SESSION AUTHORIZATION mallory")
        shared.execute(f"DROP OPERATOR {schema}.= (integer, character varying)".encode())
        for name in OVERLOADS:
            shared.execute(f"DROP FUNCTION {schema}.{name}".encode())


def test_the_search_path_holds_against_the_options_of_the_user(shared: psycopg.Connection) -> None:
    wanted = replace(READS, database=READS.database + " options='-c search_path=mine,public -c statement_timeout=0'")
    with find_table(replace(wanted, table="document")).connect() as connection:
        for setting, value in (
            ("search_path", "pg_catalog, pg_temp"), ("statement_timeout", "20s"), ("transaction_read_only", "on"),
        ):
            assert connection.execute("SELECT current_setting(%s)", [setting]).fetchone() == (value,)


@pytest.mark.parametrize(
    "statements, message",
    [
        ("CREATE VIEW mine.trap AS SELECT * FROM mine.document WHERE mine.hostile() IS NULL", "is a view"),
        ("CREATE TABLE mine.trap (LIKE mine.document INCLUDING ALL);"
         "CREATE POLICY p ON mine.trap USING (mine.hostile() IS NULL);"
         "ALTER TABLE mine.trap ENABLE ROW LEVEL SECURITY", "row security"),
        ("CREATE TABLE mine.trap (LIKE mine.document INCLUDING ALL);"
         "CREATE INDEX ON mine.trap ((id + coalesce(length(mine.hostile()), 0)))", "mine.hostile"),
        ("CREATE TABLE mine.trap (LIKE mine.document INCLUDING ALL);"
         "CREATE INDEX ON mine.trap (id) WHERE mine.hostile() IS NULL", "mine.hostile"),
        ("CREATE TABLE mine.trap (LIKE mine.document INCLUDING ALL, CHECK (mine.hostile() IS NULL))", "mine.hostile"),
        ("CREATE TABLE mine.trap (LIKE mine.document INCLUDING ALL);"
         "CREATE STATISTICS mine.s ON (id + coalesce(length(mine.hostile()), 0)), si FROM mine.trap", "mine.hostile"),
        ("CREATE TYPE mine.cover AS ENUM ('a'); CREATE TABLE mine.trap (LIKE mine.document INCLUDING ALL);"
         "CREATE FUNCTION mine.shown(mine.cover) RETURNS text LANGUAGE sql AS 'SELECT mine.hostile()';"
         "CREATE CAST (mine.cover AS text) WITH FUNCTION mine.shown;"
         "ALTER TABLE mine.trap ALTER title TYPE mine.cover USING 'a'", "mine.cover"),
        ("CREATE TABLE mine.trap (LIKE mine.document INCLUDING ALL);"
         "CREATE TABLE mine.part (CHECK (mine.hostile() IS NULL)) INHERITS (mine.trap)", "mine.hostile"),
    ],
)
def test_a_table_that_hides_code_is_refused(shared: psycopg.Connection, statements: str, message: str) -> None:
    with shared.transaction():
        shared.execute(hostile("mine", "hostile()", "text").encode())
        shared.execute(statements.encode())
        shared.execute("GRANT SELECT ON mine.trap TO other")
    try:
        with pytest.raises(Unsuitable, match=message) as refused:
            find_table(OTHER)
        assert "TRUST=mallory" in str(refused.value)
        with pytest.raises(Unsuitable, match=message):
            find_table(replace(OTHER, trust=("postgres",)))
        assert find_table(replace(OTHER, trust=("mallory",))).name == "trap"
        # It is looked at for each page: a table may become a trap after the explorer has started.
        with serving(replace(find_table(READS), name="trap", wanted=OTHER)) as site:
            response, page = ask(site, "/")
            assert response.status == 500 and message in page and "hostile code ran" not in page
    finally:
        with shared.transaction():
            shared.execute(
                """DROP VIEW IF EXISTS mine.trap""" if "VIEW" in statements else "DROP TABLE mine.trap CASCADE"
            )
            shared.execute("DROP TYPE IF EXISTS mine.cover CASCADE; DROP FUNCTION mine.hostile() CASCADE")


@pytest.mark.parametrize("kind", ["TABLE", "MATERIALIZED VIEW"])
def test_a_table_is_held_while_it_is_shown(shared: psycopg.Connection, kind: str) -> None:
    """Otherwise its owner could put a view in its place after it was looked at."""
    shared.execute(f"CREATE {kind} mine.shown AS SELECT * FROM mine.document".encode())
    shared.execute("GRANT SELECT ON mine.shown TO other")
    try:
        with find_table(replace(OTHER, table="mine.shown")).connect():
            shared.execute("SET lock_timeout = '100ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                shared.execute(f"ALTER {kind} mine.shown RENAME TO hidden".encode())
    finally:
        shared.execute("RESET lock_timeout")
        shared.execute(f"DROP {kind} mine.shown".encode())


@pytest.mark.parametrize("before, after", [("TABLE", "VIEW"), ("VIEW", "TABLE"), ("TABLE", "TABLE")])
def test_a_table_that_is_replaced_meanwhile_is_refused(
    shared: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    """Between the first look at the name and the lock."""
    shown = replace(find_table(READS), name="replaced", wanted=OTHER)
    look = Table.relation

    def look_and_replace(table: Table, connection: psycopg.Connection[Any]) -> Any:
        found = look(table, connection)
        monkeypatch.setattr(Table, "relation", look)
        shared.execute(f"DROP {before} mine.replaced".encode())
        shared.execute(f"CREATE {after} mine.replaced AS SELECT * FROM mine.document".encode())
        shared.execute("GRANT SELECT ON mine.replaced TO other")
        return found

    shared.execute(f"CREATE {before} mine.replaced AS SELECT * FROM mine.document".encode())
    shared.execute("GRANT SELECT ON mine.replaced TO other")
    monkeypatch.setattr(Table, "relation", look_and_replace)
    try:
        with pytest.raises(Unsuitable, match="was replaced just now"):
            shown.connect()
    finally:
        shared.execute(f"DROP {after} mine.replaced".encode())


def test_a_foreign_table_is_refused(shared: psycopg.Connection) -> None:
    shared.execute("SET SESSION AUTHORIZATION DEFAULT")
    shared.execute(
        """CREATE EXTENSION file_fdw;
           CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
           CREATE FOREIGN TABLE mine.far (id integer, title text, body text, si bigint) SERVER files
               OPTIONS (filename '/dev/null')"""
    )
    shared.execute("SET SESSION AUTHORIZATION mallory")
    with pytest.raises(Unsuitable, match="is a foreign table"):
        find_table(replace(OTHER, table="mine.far"))


def test_a_superuser_is_refused_unless_the_owner_is_trusted(owner: psycopg.Connection) -> None:
    superuser = Wanted("dbname=postgres user=postgres", "document")
    for trust in ((), ("mallory",)):
        with pytest.raises(Unsuitable, match=r"superuser[^$]*examples/explorer/role\.sql[^$]*TRUST=(mallory,)?postgres"):
            find_table(replace(superuser, trust=trust))
    assert find_table(replace(superuser, trust=("postgres",))).text == "body"


@pytest.mark.parametrize(
    "grant, revoke, message",
    [
        ("GRANT postgres TO explorer", "REVOKE postgres FROM explorer", "member of postgres"),
        ("GRANT pg_execute_server_program TO explorer", "REVOKE pg_execute_server_program FROM explorer", "member of pg_exec"),
        ("ALTER ROLE explorer BYPASSRLS", "ALTER ROLE explorer NOBYPASSRLS", "attribute BYPASSRLS"),
        ("ALTER ROLE explorer CREATEROLE", "ALTER ROLE explorer NOCREATEROLE", "attribute CREATEROLE"),
        ("GRANT SELECT ON picture TO explorer", "REVOKE SELECT ON picture FROM explorer", "privileges on table public.picture"),
        ("GRANT SELECT (id) ON picture TO explorer", "REVOKE SELECT (id) ON picture FROM explorer", "column id of table public.picture"),
        ("GRANT EXECUTE ON FUNCTION pg_read_file(text) TO explorer",
         "REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM explorer", "privileges on function pg_read_file"),
        ("GRANT USAGE ON SCHEMA information_schema TO explorer", "REVOKE USAGE ON SCHEMA information_schema FROM explorer",
         "privileges on schema information_schema"),
        ("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO explorer",
         "ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM explorer", "privileges on default privileges"),
        ("GRANT CONNECT ON DATABASE template1 TO explorer", "REVOKE CONNECT ON DATABASE template1 FROM explorer",
         "privileges on database template1"),
        ("CREATE SCHEMA theirs AUTHORIZATION explorer", "DROP SCHEMA theirs", "owns schema theirs"),
        ("SELECT lo_create(7); GRANT SELECT ON LARGE OBJECT 7 TO explorer", "SELECT lo_unlink(7)", "large object 7"),
    ],
)
def test_a_role_that_may_do_more_is_refused(owner: psycopg.Connection, grant: str, revoke: str, message: str) -> None:
    """Whatever the role may do, code of the table's owner could do."""
    wanted = Wanted(READER, "document")
    owner.execute(grant.encode())
    try:
        with pytest.raises(Unsuitable, match=f"explorer .*{message}.*role.sql.*TRUST=postgres"):
            find_table(wanted)
        assert find_table(replace(wanted, trust=("postgres",))).text == "body"
    finally:
        owner.execute(revoke.encode())
    assert find_table(wanted).text == "body"


def test_privileges_in_other_databases_count(owner: psycopg.Connection, shared: psycopg.Connection) -> None:
    shared.execute("CREATE TABLE mine.elsewhere (); GRANT SELECT ON mine.elsewhere TO explorer")
    try:
        with pytest.raises(Unsuitable, match="privileges on an object of another database"):
            find_table(Wanted(READER, "document"))
    finally:
        shared.execute("DROP TABLE mine.elsewhere")
    assert find_table(Wanted(READER, "document")).text == "body"


@pytest.mark.parametrize(
    "change, undo, message",
    [
        ("CREATE INDEX trap ON mine.document ((id + coalesce(length(mine.quiet()), 0)))", "DROP INDEX mine.trap",
         "calls mine.quiet"),
        ("CREATE STATISTICS mine.trap ON (id + coalesce(length(mine.quiet()), 0)), si FROM mine.document",
         "DROP STATISTICS mine.trap", "calls mine.quiet"),
        ("CREATE TABLE mine.trap (CHECK (mine.quiet() IS NULL)) INHERITS (mine.document)", "DROP TABLE mine.trap",
         "calls mine.quiet"),
        ("CREATE TABLE mine.diary (); GRANT SELECT ON mine.diary TO reader", "DROP TABLE mine.diary", "table mine.diary"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/document?key=1", "/clusters?radius=10", "/distances"])
def test_what_changes_while_a_page_is_made_is_found(
    shared: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, path: str, change: str, undo: str, message: str
) -> None:
    """After the first statement of a page, and with a search path that leads the checks to tables of the owner."""

    def find_and_change(connection: psycopg.Connection[Any]) -> Any:
        found = find_functions(connection)
        connection.execute("SELECT FROM mine.document")
        shared.execute(change.encode())
        connection.execute("SET LOCAL search_path = mine, pg_catalog")
        return found

    with shared.transaction():
        shared.execute("CREATE FUNCTION mine.quiet() RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT NULL::text'")
        for catalog in ("pg_index", "pg_depend", "pg_statistic_ext", "pg_inherits", "pg_shdepend"):
            shared.execute(f"CREATE TABLE mine.{catalog} AS SELECT * FROM pg_catalog.{catalog} LIMIT 0".encode())
            shared.execute(f"GRANT SELECT ON mine.{catalog} TO PUBLIC".encode())
    try:
        with served_as(READS) as site:
            assert ask(site, path)[0].status == 200
            monkeypatch.setattr("explorer.queries.find_functions", find_and_change)
            response, page = ask(site, path)
            assert response.status == 500 and "discarded" in page and message in page, page
            assert "a title" not in page
    finally:
        with shared.transaction():
            shared.execute(undo.encode())
            shared.execute("DROP FUNCTION mine.quiet()")
            for catalog in ("pg_index", "pg_depend", "pg_statistic_ext", "pg_inherits", "pg_shdepend"):
                shared.execute(f"DROP TABLE mine.{catalog}".encode())


def test_what_is_temporary_hides_nothing(owner: psycopg.Connection) -> None:
    """A pooler may give us a session in which somebody has made a table or a function."""
    with Wanted("dbname=postgres user=postgres", "document").connect() as connection:
        connection.read_only = False
        connection.execute("CREATE TEMPORARY TABLE pg_extension (extname name, extnamespace oid)")
        connection.execute("CREATE FUNCTION pg_temp.length(varchar) RETURNS integer LANGUAGE sql AS 'SELECT 0'")
        assert find_hidden(connection) == (True, 1)
        restrict(connection, "20s")
        assert find_hidden(connection) == (False, 1)
        connection.rollback()


def find_hidden(connection: psycopg.Connection[Any]) -> Any:
    return connection.execute(
        "SELECT 'pg_extension'::regclass <> 'pg_catalog.pg_extension'::regclass, length('a'::varchar)"
    ).fetchone()
