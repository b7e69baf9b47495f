import { checkPlainName, longestPrefix } from '../sql/plain-name.ts'

const names = [
  ...(['inbox', 'parked', 'scopes', 'queue', 'facts'] as const),
  ...(['positions', 'meta'] as const),
] as const

/** The names of our tables, quoted and ready for a statement. */
export type Tables = Readonly<Record<(typeof names)[number], string>> & {
  /** Without quotes, as in the catalog. */
  readonly metaName: string
  /** The database as a value: the given one, or that of the store's sessions. */
  readonly databaseValue: string
  readonly prefix: string
}

/**
 * Placeholders for the database of the store's sessions, which only the server knows; they are replaced when a statement is
 * sent. No value can look like them, because values are digits, hexadecimal or base 64.
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
 * The statement with its tables in the database of the store's sessions, so that it means the same whatever database a
 * session is in now. Without such a database, and in printed SQL, the session decides.
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
