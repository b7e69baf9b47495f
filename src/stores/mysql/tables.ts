import { checkPlainName, longestPrefix } from '../sql/plain-name.ts'

const names = [
  ...(['inbox', 'parked', 'scopes', 'queue', 'facts'] as const),
  ...(['positions', 'meta'] as const),
] as const

/** The names of our tables, quoted and ready for a statement. */
export type Tables = Readonly<Record<(typeof names)[number], string>> & {
  /** Without quotes, as the catalogue has it. */
  readonly metaName: string
  /** The database as a value: the one given, or that of the store's sessions. */
  readonly databaseValue: string
  readonly prefix: string
}

/**
 * Stand in our statements for the database of the store's sessions, which only the server knows, until they are sent. No
 * value can look like them: values are digits and hexadecimal.
 */
const home = '\u0001home\u0001'
const homeValue = '\u0001home value\u0001'

export function tableNames(prefix: string, database: string | undefined): Tables {
  checkPlainName('prefix', prefix, longestPrefix)
  if (database !== undefined) checkPlainName('database', database, 64)
  const before = database === undefined ? home : `\`${database}\`.`
  const quoted = Object.fromEntries(names.map((name) => [name, `${before}\`${prefix}${name}\``]))
  return {
    ...(quoted as Record<(typeof names)[number], string>),
    metaName: `${prefix}meta`,
    databaseValue: database === undefined ? homeValue : `'${database}'`,
    prefix,
  }
}

/**
 * The statement with its tables in the database of the store's sessions. Whatever database a session is in now, it says
 * the same; without one, and on paper, it is left to the session.
 */
export function atHome(sql: string, database: string | undefined): string {
  if (!sql.includes('\u0001')) return sql
  return sql
    .replaceAll(home, () => (database === undefined ? '' : `${quotedName(database)}.`))
    .replaceAll(homeValue, () =>
      database === undefined ? 'DATABASE()' : `x'${Buffer.from(database).toString('hex')}'`,
    )
}

export function quotedName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}
