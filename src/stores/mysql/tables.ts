import { checkPlainName, longestPrefix } from '../sql/plain-name.ts'

const names = [
  ...(['inbox', 'parked', 'scopes', 'outbox', 'queue', 'suspects', 'notes', 'redrives', 'audit'] as const),
  ...(['leases', 'schemes', 'positions', 'meta'] as const),
] as const

/** The names of our tables, quoted and ready for a statement. */
export type Tables = Readonly<Record<(typeof names)[number], string>> & {
  /** Without quotes, as the catalogue has it. */
  readonly metaName: string
  /** The database as a value: the one given, or that of the connection. */
  readonly databaseValue: string
  readonly prefix: string
}

export function tableNames(prefix: string, database: string | undefined): Tables {
  checkPlainName('prefix', prefix, longestPrefix)
  if (database !== undefined) checkPlainName('database', database, 64)
  const home = database === undefined ? '' : `\`${database}\`.`
  const quoted = Object.fromEntries(names.map((name) => [name, `${home}\`${prefix}${name}\``]))
  return {
    ...(quoted as Record<(typeof names)[number], string>),
    metaName: `${prefix}meta`,
    databaseValue: database === undefined ? 'DATABASE()' : `'${database}'`,
    prefix,
  }
}
