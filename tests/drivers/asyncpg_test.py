"""asyncpg, which prepares every statement."""

import asyncio

import asyncpg


async def main():
    connection = await asyncpg.connect(user="postgres", database="postgres")
    value = await connection.fetchval("SELECT si FROM document WHERE id = 101")
    for _ in range(10):
        rows = await connection.fetch("SELECT id FROM document WHERE hamming(si, $1) <= $2", value, 3)
        assert 101 in [row["id"] for row in rows] and len(rows) == 50, rows
    await connection.close()


asyncio.run(main())
print("queries: 10")
