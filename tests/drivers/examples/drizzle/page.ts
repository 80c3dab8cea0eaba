import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { page } from './schema'

async function main() {
  const pool = new pg.Pool()
  const db = drizzle(pool)
  const value = BigInt(process.env.VALUE!)

  // @block 2@

  near.forEach(row => console.log('near', String(row.id)))
  nearest.forEach(row => console.log('nearest', String(row.id)))
  console.log('si', String(si))
  await pool.end()
}

main()
