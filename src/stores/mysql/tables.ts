import { JustonceError } from '../../errors/index.ts'

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

// MySQL takes 64 characters; the rest is for the names we append.
const longestPrefix = 40
const plain = /^[A-Za-z_][A-Za-z0-9_]*$/

export function tableNames(prefix: string, database: string | undefined): Tables {
  checkName('prefix', prefix, longestPrefix)
  if (database !== undefined) checkName('database', database, 64)
  const home = database === undefined ? '' : `\`${database}\`.`
  const quoted = Object.fromEntries(names.map((name) => [name, `${home}\`${prefix}${name}\``]))
  return {
    ...(quoted as Record<(typeof names)[number], string>),
    metaName: `${prefix}meta`,
    databaseValue: database === undefined ? 'DATABASE()' : `'${database}'`,
    prefix,
  }
}

function checkName(option: string, name: unknown, longest: number): void {
  if (typeof name === 'string' && plain.test(name) && name.length <= longest) return
  throw new JustonceError('OPTION_INVALID', {
    message: `${option} is ${JSON.stringify(name)}, but must be letters, digits and underscores, at most ${longest}.`,
  })
}
