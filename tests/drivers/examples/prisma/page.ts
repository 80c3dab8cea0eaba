import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './client/client'

async function main() {
  const { PGHOST: host, PGUSER: user, PGDATABASE: database } = process.env
  const prisma = new PrismaClient({ adapter: new PrismaPg({ host, user, database }) })
  const value = BigInt(process.env.VALUE!)

  // @block 2@

  near.forEach(row => console.log('near', String(row.id)))
  nearest.forEach(row => console.log('nearest', String(row.id)))
  console.log('si', String(si))
  await prisma.$disconnect()
}

main()
