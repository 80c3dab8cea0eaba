const { PGHOST, PGUSER, PGDATABASE } = process.env

export default {
  dialect: 'postgresql',
  schema: './schema.ts',
  dbCredentials: { url: `postgresql://${PGUSER}@localhost/${PGDATABASE}?host=${PGHOST}` },
}
