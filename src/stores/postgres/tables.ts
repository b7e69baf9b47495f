import { checkPlainName, longestPrefix } from '../sql/plain-name.ts'

/** The names of everything in the database, quoted and ready for a statement. */
export interface Tables {
  readonly inbox: string
  /** The partition of the inbox for ids without a time. */
  readonly timeless: string
  /** The partition of the inbox with this name. */
  partition(name: string): string
  readonly parked: string
  readonly queue: string
  readonly facts: string
  readonly positions: string
  readonly meta: string
  /** The name of an index or a constraint, which lives in the schema of its table. */
  index(name: string): string
  readonly schema: string | undefined
  /** Without quotes, as in the catalog. */
  readonly schemaName: string | undefined
  readonly metaName: string
  /** The prefix of the names of all partitions of the inbox. */
  readonly partitionPrefix: string
  /** The channel of NOTIFY, as plain text. */
  readonly channel: string
  /** For an advisory lock; the same for everyone who installs the same tables. */
  readonly lockName: string
}

/** `home` is the schema of the tables, if it was looked up. Names that processes agree on depend only on the option. */
export function tableNames(prefix: string, schema: string | undefined, home = schema): Tables {
  checkPlainName('prefix', prefix, longestPrefix)
  if (schema !== undefined) checkPlainName('schema', schema, 63)
  const place = home === undefined ? '' : `"${home.replaceAll('"', '""')}"`
  const table = (name: string) => `${place}${place && '.'}"${prefix}${name}"`
  return {
    inbox: table('inbox'),
    timeless: table('inbox_timeless'),
    partition: (name) => table(`inbox_${name}`),
    parked: table('parked'),
    queue: table('queue'),
    facts: table('facts'),
    positions: table('positions'),
    meta: table('meta'),
    index: (name) => `"${prefix}${name}"`,
    schema: home === undefined ? undefined : place,
    schemaName: home,
    metaName: `${prefix}meta`,
    partitionPrefix: `${prefix}inbox_`,
    channel: `${schema === undefined ? '' : `${schema}.`}${prefix}queue`.slice(0, 63),
    lockName: `justonce ${schema ?? ''} ${prefix}`,
  }
}

/** The first word of the name of a fact, as an expression that matches an index. */
export function kindOf(name: string): string {
  return `split_part(${name}, ' ', 1)`
}
