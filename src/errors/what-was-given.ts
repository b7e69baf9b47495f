/** Describes what was given instead of a database client, in the user's terms. */
export function whatWasGiven(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return knownName(value) ?? `${typeof value === 'object' ? nameOfClass(value) : typeof value}`
}

/** The name of a library that wraps a client; `undefined` if it is not a known one. */
export function wrapperName(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return wrappers.find(([, ...members]) => members.every((member) => has(value, member)))?.[0]
}

type Shape = readonly [name: string, ...members: string[]]

const wrappers: readonly Shape[] = [
  ['a client of Prisma', '$executeRaw', '$queryRaw'],
  ['a handle of Kysely', 'selectFrom', 'getExecutor'],
  ['a handle of Drizzle', 'select', 'insert', 'session', 'dialect'],
  ['a handle of Knex', 'raw', 'schema', 'client'],
  ['a query runner of TypeORM', 'startTransaction', 'commitTransaction', 'manager'],
  ['a data source of TypeORM', 'createQueryRunner', 'getRepository'],
  ['an entity manager of TypeORM', 'getRepository', 'connection'],
  ['a transaction of Sequelize', 'sequelize', 'commit'],
]

const clients: readonly Shape[] = [
  ['a pool of pg', 'connect', 'query', 'totalCount'],
  ['a client of pg', 'connect', 'query', 'connectionParameters'],
  ['the sql of postgres.js', 'unsafe', 'begin', 'reserve'],
  ['a pool of mysql2', 'getConnection'],
  ['a connection of mysql2', 'beginTransaction', 'query'],
  ['a database of SQLite', 'exec', 'prepare'],
]

function knownName(value: unknown): string | undefined {
  return wrapperName(value) ?? clients.find(([, ...members]) => members.every((member) => has(value, member)))?.[0]
}

function has(value: unknown, member: string): boolean {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && member in value
}

function nameOfClass(value: object): string {
  const name: unknown = value.constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `a ${name}` : 'an object'
}
