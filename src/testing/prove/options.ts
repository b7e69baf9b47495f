import type { DatabaseSync } from 'node:sqlite'
import type { AppOptions } from '../../app/app-options.ts'
import type { App, MessageToDeliver, TxOf } from '../../app/types.ts'
import type { Store } from '../../contracts/index.ts'
import { checkOptions, JustonceError } from '../../errors/index.ts'
import type { SqliteStore } from '../../stores/sqlite/index.ts'
import { type FailureName, failureNames } from './failure-names.ts'
import type { ScratchDatabase, ScratchPlace } from './scratch.ts'

/** The options of `prove`. Only `register` and `messages` are required. */
export interface ProveOptions<
  S extends Store = SqliteStore<DatabaseSync>,
  Map extends object = Record<string, unknown>,
> {
  /** Registers the handlers as the real app does. Called for every simulated process. */
  register(app: App<S, Map>, place: ScratchPlace): unknown
  /** The messages to deliver, in this order. Each needs an id and a type. Two that touch the same rows reveal lost updates. */
  readonly messages: readonly (MessageToDeliver & { readonly id: string; readonly type: string })[]
  /** Creates and fills your tables in the empty scratch database. */
  setup?(db: TxOf<S>, place: ScratchPlace): unknown
  /** Where the proof runs. Default: `scratchSqlite()`. */
  readonly database?: ScratchDatabase<S>
  /** Options of the real app: schemas, `beforeEach`, `around`. */
  readonly app?: Pick<
    AppOptions<S, Map>,
    'messages' | 'codec' | 'beforeEach' | 'around' | 'unknownTypes' | 'maxBodyBytes' | 'maxHeaderBytes'
  >
  /** Returns what counts as the effect, instead of the contents of all your tables. */
  observe?(db: TxOf<S>, place: ScratchPlace): unknown
  /** Called before every run. Resets what lives outside the database, such as the list of a fake mailer. */
  reset?(): unknown
  /** Columns that are not compared: `['payments.created_at']`. */
  readonly ignore?: readonly string[]
  /** Failures that you know and accept. They stay in the report. */
  readonly allow?: readonly FailureName[]
  /** The most steps that are disturbed for each message. Default: 100. */
  readonly maxSteps?: number
  /** Ends the proof early; `prove()` then rejects. */
  readonly signal?: AbortSignal
  /** Called before each run. */
  onProgress?(progress: Progress): void
}

/** The type map matters only to the author of `register`. */
export type UntypedOptions<S extends Store> = ProveOptions<S, Record<string, unknown>>

/** How far `prove()` has come. */
export interface Progress {
  readonly done: number
  /** How many runs there will be, as far as is known so far. */
  readonly total: number
  /** What is being done: `crash after query 2 of p1`. */
  readonly doing: string
}

const known = [
  'register',
  'messages',
  'setup',
  'database',
  'app',
  'observe',
  'reset',
  'ignore',
  'allow',
  'maxSteps',
  'signal',
  'onProgress',
]

export function checkProveOptions(options: UntypedOptions<Store>): void {
  if (typeof options !== 'object' || options === null) invalid('prove() was called without options.')
  checkOptions(options, known, 'prove()')
  if (typeof options.register !== 'function')
    invalid('prove() was given no register(app), which registers the handlers to prove.')
  const { messages } = options
  if (!Array.isArray(messages) || messages.length === 0) invalid('prove() was given no messages to deliver.')
  const ids = new Set<string>()
  for (const [index, { id, type }] of messages.entries()) {
    if (typeof id !== 'string' || typeof type !== 'string') invalid(`messages[${index}] has no id or no type.`)
    if (ids.has(id)) invalid(`Two messages have the id ${JSON.stringify(id)}; prove() makes the duplicates itself.`)
    ids.add(id)
  }
  for (const column of options.ignore ?? [])
    if (!/^[^.]+\..+$/.test(column)) invalid(`ignore has ${JSON.stringify(column)}; it must be 'table.column'.`)
  for (const name of options.allow ?? [])
    if (!failureNames.includes(name))
      invalid(`allow has ${JSON.stringify(name)}; known are ${failureNames.join(', ')}.`)
}

function invalid(message: string): never {
  throw new JustonceError('OPTION_INVALID', { message })
}
