import { parseArgs } from 'node:util'
import type { Store } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { type Command, parsing, UsageError } from '../command.ts'
import { withStore } from '../load-store.ts'
import { reaching } from '../reaching.ts'
import type { Terminal } from '../terminal.ts'

const help = `Usage: justonce migrate --store <file> [--days-from <date> | --print | --check]

Brings the tables of a store to the version that this code needs. Several processes may do it at once.
<file> exports the store, as default or under the name 'store':

  import pg from 'pg'
  import { postgresStore } from 'justonce/postgres'

  export default postgresStore({ pool: new pg.Pool() })

  --print             changes nothing and prints the SQL of all tables, for someone who may run it
  --check             changes nothing and says whether the tables are up to date
  --days-from <date>  also creates the partitions of all days from then (2026-01-31) until two weeks from now. Only Postgres
                      has them. You need this if the role of the app may not create them and ids say when they were made

The exit code is 0 if the tables are up to date (or were printed), 1 if --check says that they are not, 2 after an error.
An app does the same when it starts, unless it has schema: 'check'.
`

export const migrateCommand: Command = {
  name: 'migrate',
  summary: "brings a store's tables up to date, checks them or prints their SQL",
  help,
  async run(args, terminal) {
    const { file, action, daysFrom } = parse(args)
    return await withStore(file, (store) => actions[action](store, terminal, daysFrom))
  },
}

const hint = '--print shows the SQL, for someone who may run it.'

type Action = 'install' | 'print' | 'check'

const actions: Record<Action, (store: Store, terminal: Terminal, daysFrom?: Date) => Promise<number>> = {
  async print({ schema }, { out }) {
    out.write(schema.print())
    return 0
  },
  async check(store, { out }) {
    const problem = await problemOf(store)
    out.write(`${problem ?? `The tables of the ${store.name} store are up to date.`}\n`)
    return problem === undefined ? 0 : 1
  },
  async install(store, { out }, daysFrom) {
    const isUpToDate = (await problemOf(store)) === undefined
    if (!isUpToDate) await reaching(store, () => store.schema.install(), hint)
    const done = isUpToDate ? 'were already up to date' : 'are up to date now'
    out.write(`The tables of the ${store.name} store ${done}.\n`)
    if (daysFrom !== undefined) {
      await reaching(store, async () => store.retention?.prepare(aheadMs, daysFrom))
      out.write(`There are partitions for records of all days from ${daysFrom.toISOString().slice(0, 10)}.\n`)
    }
    return 0
  },
}

/** The same as how far ahead an app makes partitions, if it may. */
const aheadMs = 14 * 86_400_000

/** Why the tables do not fit this code; `undefined` if they do. */
async function problemOf(store: Store): Promise<string | undefined> {
  try {
    await reaching(store, () => store.schema.check(), hint)
    return undefined
  } catch (error) {
    if (isAboutSchema(error)) return error.message
    throw error
  }
}

function isAboutSchema(error: unknown): error is Error {
  return (['SCHEMA_MISSING', 'SCHEMA_OLD', 'SCHEMA_NEW'] as const).some((code) => isJustonceError(error, code))
}

interface Parsed {
  readonly file: string
  readonly action: Action
  readonly daysFrom: Date | undefined
}

function parse(args: readonly string[]): Parsed {
  return parsing(help, () => {
    const flag = { type: 'boolean', default: false } as const
    const text = { type: 'string' } as const
    const options = { store: text, print: flag, check: flag, 'days-from': text } as const
    const { values } = parseArgs({ args: [...args], options })
    if (values.store === undefined) throw new UsageError('which store? Give --store <file>.')
    if (values.print && values.check) throw new UsageError('--print and --check do not go together.')
    const action = values.print ? 'print' : values.check ? 'check' : 'install'
    const day = values['days-from']
    if (day !== undefined && action !== 'install')
      throw new UsageError(`--days-from and --${action} do not go together.`)
    return { file: values.store, action, daysFrom: day === undefined ? undefined : dayOf(day) }
  })
}

function dayOf(text: string): Date {
  const day = new Date(text)
  // JavaScript would read the 30th of February as the 2nd of March.
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
  if (!isDay) throw new UsageError(`--days-from takes a date such as 2026-01-31, not ${text}.`)
  if (day.getTime() > Date.now())
    throw new UsageError(`--days-from takes a day in the past, and ${text} is in the future.`)
  return day
}
