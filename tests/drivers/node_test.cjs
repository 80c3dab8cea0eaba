// node-postgres, plain and with a named (prepared) statement. A bigint arrives as a string.
const assert = require('node:assert')
const { Client } = require('pg')

async function main() {
  const client = new Client({ user: 'postgres', database: 'postgres', host: process.env.PGHOST })
  await client.connect()
  const value = (await client.query('SELECT si FROM document WHERE id = 101')).rows[0].si
  const text = 'SELECT id FROM document WHERE hamming(si, $1) <= $2'
  for (const name of [undefined, 'near']) {
    for (let run = 0; run < 8; run++) {
      const { rows } = await client.query({ name, text, values: [value, 3] })
      assert(rows.some(row => row.id === 101) && rows.length === 50)
    }
  }
  await client.end()
  console.log('queries: 16')
}

main()
