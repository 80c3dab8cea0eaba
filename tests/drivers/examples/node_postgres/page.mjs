import assert from 'node:assert'
import pg from 'pg'

const client = new pg.Client()
await client.connect()
const value = process.env.VALUE

// @block 1@

near.rows.forEach(row => console.log('near', row.id))
nearest.rows.forEach(row => console.log('nearest', row.id))
console.log('si', si)
const number = @unsigned@
console.log(`unsigned ${number}`)
console.log(`signed ${@signed@}`)

const { rows } = await client.query(process.env.BITS_QUERY, [process.env.BITS, 20])
rows.forEach(row => console.log('bits', row.id))

// A number of JavaScript has other bits. A BigInt has all of them, both ways.
assert.notEqual(BigInt(Number(si)), BigInt(si))
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)
const echo = await client.query('SELECT $1::bigint AS si', [BigInt(si)])
assert.strictEqual(echo.rows[0].si, BigInt(si))
await client.end()
