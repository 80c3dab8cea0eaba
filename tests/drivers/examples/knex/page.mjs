import assert from 'node:assert'
import makeKnex from 'knex'

const { PGHOST: host, PGUSER: user, PGDATABASE: database, VALUE: value } = process.env
const knex = makeKnex({ client: 'pg', connection: { host, user, database } })

// @block 1@

near.forEach(row => console.log('near', row.id))
nearest.forEach(row => console.log('nearest', row.id))
console.log('si', si)
const number = @unsigned@
console.log(`unsigned ${number}`)
console.log(`signed ${@signed@}`)

// What sounds like it makes another index.
await knex.schema.alterTable('page', table => table.index(['si'], 'page_trap', { indexType: 'hamming' }))
const { indexdef } = await knex('pg_indexes').first('indexdef').where('indexname', 'page_trap')
assert.match(indexdef, /USING btree/)
await knex.destroy()
