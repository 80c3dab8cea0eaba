import 'reflect-metadata'
import assert from 'node:assert'
import { Column, DataSource, Entity, EntitySchema, Index, PrimaryGeneratedColumn } from 'typeorm'

// @block 1@

// An index of another name, as its decorator would have it. The types of TypeScript do not allow it.
const Trap = new EntitySchema({
  name: 'Trap',
  columns: { si: { type: 'bigint', primary: true } },
  indices: [{ name: 'trap_si', columns: ['si'], type: 'hamming' as any }],
})

async function main() {
  const { PGHOST: host, PGUSER: username, PGDATABASE: database, VALUE: value } = process.env
  const source = new DataSource({ type: 'postgres', host, username, database, entities: [Page, Trap] })
  await source.initialize()
  await source.synchronize()
  await source.query('INSERT INTO page (id, body) OVERRIDING SYSTEM VALUE SELECT id, body FROM original')
  const queryRunner = source.createQueryRunner()

  // @block 2@

  // This drops the index that no class names, and no other.
  await source.query('CREATE INDEX trap_unnamed ON trap USING hamming (si)')
  await source.synchronize()

  const pages = source.getRepository(Page)

  // @block 3@

  near.forEach(row => console.log('near', row.id))
  nearest.forEach(row => console.log('nearest', row.id))
  console.log('si', si)

  const traps = await source.query("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'trap%'")
  assert.equal(traps.length, 1)
  assert.match(traps[0].indexdef, /INDEX trap_si .* USING btree/)
  await source.destroy()
}

main()
