import { parseArgs } from 'node:util'
import { checkOptions } from '../src/errors/index.ts'
import { type BrokerName, brokerNames } from './broker-server.ts'

export interface Flags {
  readonly messages: number
  readonly kills: number
  readonly seed: number
  readonly workers: number
  readonly postgres: string | undefined
  readonly broker: BrokerName | undefined
  readonly keep: boolean
  /** Ends at the table. */
  readonly exit: boolean
  readonly json: boolean
  readonly help: boolean
}

export const usage = `npm start -- [flags]

  --messages N     payments to send, each of them 1 to 4 times (2000)
  --kills N        how often a worker of each side is killed (12)
  --workers N      worker processes of each side (3)
  --seed N         repeats the payments, their copies and the moments of the kills of an earlier run
  --postgres URL   uses this Postgres instead of an SQLite file, in schemas of its own that are dropped afterwards
  --broker NAME    rabbitmq or kafka: starts that broker, if it is installed, and lets it bring the payments
  --keep           keeps the databases and prints where they are
  --exit           ends after the table; otherwise a terminal gets a dashboard and payments that keep coming, until Ctrl-C
  --json           prints the figures as one JSON object in the last line
  --help           prints this`

const options = {
  messages: { type: 'string' },
  kills: { type: 'string' },
  workers: { type: 'string' },
  seed: { type: 'string' },
  postgres: { type: 'string' },
  broker: { type: 'string' },
  keep: { type: 'boolean' },
  exit: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** The command line cannot be understood; the message is for the person who typed it. */
export class FlagError extends Error {}

export function readFlags(args: readonly string[], randomSeed: number): Flags {
  const { values, positionals } = parseArgs({ args: [...args], options, strict: false })
  refuseUnknown(Object.keys(values))
  if (positionals.length > 0) throw new FlagError(`'${positionals[0]}' is not a flag: flags begin with --.`)
  for (const name of ['keep', 'exit', 'json', 'help'] as const) {
    if (typeof values[name] === 'string')
      throw new FlagError(`--${name} takes no value, but was given '${values[name]}'.`)
  }
  const messages = wholeNumber('messages', values.messages ?? '2000', 1, 1_000_000)
  const kills = wholeNumber('kills', values.kills ?? String(Math.min(12, messages)), 0, 10_000)
  if (kills > messages)
    throw new FlagError(`--kills is ${kills}, but with ${messages} messages it can be ${messages} at most.`)
  return {
    messages,
    kills,
    seed: wholeNumber('seed', values.seed ?? String(randomSeed), 0, 2 ** 32 - 1),
    workers: wholeNumber('workers', values.workers ?? '3', 1, 50),
    postgres: values.postgres === undefined ? undefined : postgresUrl(values.postgres),
    broker: values.broker === undefined ? undefined : brokerName(values.broker),
    keep: values.keep === true,
    exit: values.exit === true,
    json: values.json === true,
    help: values.help === true,
  }
}

function refuseUnknown(names: readonly string[]): void {
  const dashed = (name: string): string => `--${name}`
  const given = Object.fromEntries(names.map((name) => [dashed(name), true]))
  try {
    checkOptions(given, Object.keys(options).map(dashed), 'The demo')
  } catch (error) {
    throw new FlagError((error as Error).message)
  }
}

function wholeNumber(name: string, text: string | boolean, from: number, to: number): number {
  if (typeof text !== 'string' || text === '') throw new FlagError(`--${name} needs a value: --${name} ${from + 1}.`)
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw new FlagError(`--${name} is '${text}', but must be a whole number from ${from} to ${to}.`)
}

function postgresUrl(text: string | boolean): string {
  if (typeof text === 'string' && /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text
  const seen = typeof text === 'string' ? `is '${text}'` : 'needs a value'
  throw new FlagError(`--postgres ${seen}: a URL like postgresql://user:password@localhost:5432/database is wanted.`)
}

function brokerName(text: string | boolean): BrokerName {
  if (typeof text === 'string' && Object.hasOwn(brokerNames, text)) return text as BrokerName
  const seen = typeof text === 'string' ? `is '${text}'` : 'needs a value'
  throw new FlagError(`--broker ${seen}: ${Object.keys(brokerNames).join(' or ')} is wanted.`)
}
