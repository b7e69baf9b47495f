import type { Store } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { UsageError } from '../command.ts'
import { type Desk, operatorCommand } from '../operator-command.ts'
import { reaching } from '../reaching.ts'
import { whileWorking } from '../working-line.ts'

const hint = '--print shows the SQL, for someone who may run it.'
const dayMs = 86_400_000
/** Until the next deploy, or until somebody runs maintain. An app that may make partitions goes on by itself. */
const aheadMs = 30 * dayMs
/** Messages that have waited in a broker over a long weekend, or for a retry, are older than their deploy. */
const behindMs = 7 * dayMs

export const migrateCommand = operatorCommand(
  { name: 'migrate', summary: "brings a store's tables up to date, checks them or prints their SQL" },
  {
    name: '',
    summary: "brings a store's tables up to date, checks them or prints their SQL",
    about: `Brings the tables of a store to the version that this code needs, and creates the partitions of the last 7 and the next 30
days where a store has partitions. Several processes may do it at once. An app does the same when it starts, unless it has schema: 'check'.
See docs/operations/least-privilege.md for an app whose role may not.`,
    options: {
      print: { kind: 'flag', text: 'changes nothing and prints the SQL of all tables, for someone who may run it' },
      status: {
        kind: 'flag',
        text: 'changes nothing and says whether the tables are up to date; if not, the exit code is 1',
      },
      check: { kind: 'flag', text: 'the same as --status' },
      'days-from': {
        kind: 'text',
        value: 'date',
        text: 'creates the partitions of all days from then (2026-01-31), too',
      },
    },
    anySchema: true,
    creates: (given) => !given.flag('check') && !given.flag('status'),
    check(given) {
      const isCheck = given.flag('check') || given.flag('status')
      if (given.flag('print') && isCheck) throw new UsageError('--print and --check do not go together.')
      const day = given.text('days-from')
      if (day !== undefined && (isCheck || given.flag('print')))
        throw new UsageError(`--days-from and --${isCheck ? 'check' : 'print'} do not go together.`)
      if (day !== undefined) dayOf(day)
    },
    async run(desk) {
      const { given } = desk
      if (given.flag('print')) return print(desk)
      if (given.flag('check') || given.flag('status')) return await check(desk)
      const day = given.text('days-from')
      return await install(desk, day === undefined ? undefined : dayOf(day))
    },
  },
)

function print({ store, show }: Desk): number {
  const sql = store.schema.print()
  show({ sql }, () => sql)
  return 0
}

async function check({ store, show }: Desk): Promise<number> {
  const problem = await problemOf(store)
  show(
    { upToDate: problem === undefined, problem: problem ?? null },
    () => `${problem ?? `The tables of the ${store.name} store are up to date.`}\n`,
  )
  return problem === undefined ? 0 : 1
}

async function install({ store, show, terminal: { err } }: Desk, daysFrom: Date | undefined): Promise<number> {
  const wasUpToDate = (await problemOf(store)) === undefined
  const change = (): Promise<void> => reaching(store, () => store.schema.install(), hint)
  if (!wasUpToDate) await whileWorking(err, 'Bringing the tables up to date', change)
  const since = daysFrom ?? new Date(Date.now() - behindMs)
  const prepare = async (): Promise<void> => store.retention?.prepare(aheadMs, since)
  await whileWorking(err, 'Making room for records', () => reaching(store, prepare, hint))
  const done = wasUpToDate ? 'were already up to date' : 'are up to date now'
  const text = `The tables of the ${store.name} store ${done}.\n`
  const day = daysFrom?.toISOString().slice(0, 10)
  const days = day === undefined ? '' : `There are partitions for records of all days from ${day}.\n`
  show({ upToDate: true, changed: !wasUpToDate, ...(day !== undefined && { partitionsFrom: day }) }, () => text + days)
  return 0
}

/** Why the tables do not fit this code; `undefined` if they do. */
export async function problemOf(store: Store): Promise<string | undefined> {
  try {
    await reaching(store, () => store.schema.check())
    return undefined
  } catch (error) {
    if (isAboutSchema(error)) return error.message
    throw error
  }
}

function isAboutSchema(error: unknown): error is Error {
  return (['SCHEMA_MISSING', 'SCHEMA_OLD', 'SCHEMA_NEW'] as const).some((code) => isJustonceError(error, code))
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
