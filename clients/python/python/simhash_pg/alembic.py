"""Fingerprints in Alembic's migrations. In env.py:

    import simhash_pg.alembic

    context.configure(..., render_item=simhash_pg.alembic.render_item)

The import lets autogenerate see that the method of an index has changed, such as from btree to hamming. Alembic itself
compares columns only.
"""

from typing import Any, Literal

from alembic.autogenerate import comparators
from alembic.autogenerate.api import AutogenContext
from alembic.operations.ops import CreateIndexOp, DropIndexOp, ModifyTableOps
from alembic.util import DispatchPriority, PriorityDispatchResult
from sqlalchemy import Index, Table

from simhash_pg.sqlalchemy import Code, Fingerprint

__all__ = ["compare_index_methods", "render_item"]


def method(index: Index) -> str:
    """The access method of an index."""
    return str(index.dialect_options["postgresql"]["using"] or "btree").lower()


# After Alembic's own comparison, which may have found that the index is to be made again.
@comparators.dispatch_for("table", qualifier="postgresql", priority=DispatchPriority.LAST)
def compare_index_methods(
    context: AutogenContext,
    operations: ModifyTableOps,
    schema: str | None,
    name: str,
    existing_table: Table | None,
    declared_table: Table | None,
) -> PriorityDispatchResult:
    """Makes the indexes again whose method is not the declared one."""
    if existing_table is not None and declared_table is not None:
        done = {operation.index_name for operation in operations.ops if isinstance(operation, DropIndexOp)}
        existing = {index.name: index for index in existing_table.indexes}
        for declared in sorted(declared_table.indexes, key=lambda index: str(index.name)):
            old = existing.get(declared.name)
            if old is None or method(old) == method(declared) or declared.name in done:
                continue
            if context.run_object_filters(declared, declared.name, "index", False, old):
                operations.ops += [DropIndexOp.from_index(old), CreateIndexOp.from_index(declared)]
    return PriorityDispatchResult.CONTINUE


def render_item(kind: str, item: Any, context: AutogenContext) -> str | Literal[False]:
    """Writes the type of a column of fingerprints or codes into a migration, and imports it there."""
    if kind == "type" and isinstance(item, (Fingerprint, Code)):
        context.imports.add("import simhash_pg.sqlalchemy")
        return f"simhash_pg.sqlalchemy.{f'Code({item.bits})' if isinstance(item, Code) else 'Fingerprint()'}"
    return False
