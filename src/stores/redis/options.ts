import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import { type OpenedClient, openClient, type RedisClient } from './client-shapes.ts'
import type { RedisWarning } from './schema.ts'

interface CommonOptions {
  /** A connected client of node-redis or ioredis, single or cluster. `close()` does not end it. */
  readonly client: RedisClient
  /** Every key of this store contains it in braces, so that a cluster keeps them in one slot. Default `justonce`. */
  readonly hashTag?: string | undefined
  /**
   * The number of the database that the store and its handlers write to, whatever else is selected on the connection.
   * Default: the one that the client was made for. Not in a cluster, which has only one.
   */
  readonly database?: number | undefined
  /** How long a claim outlives a process that died while holding it. Default 30 000. */
  readonly leaseMs?: number | undefined
  /** How long to wait for an answer from the server before it counts as unreachable. Default 5 000. */
  readonly commandTimeoutMs?: number | undefined
  /**
   * Called at `schema.install()` and `schema.check()` with server settings that endanger records; an app also emits them as
   * events of the kind `warning`. Default: a process warning.
   */
  readonly onWarning?: ((warning: RedisWarning) => void) | undefined
}

/** `redisStore()` for handlers whose effects are Redis commands. */
export interface IsolatedRedisOptions extends CommonOptions {
  /** `isolated`: handlers write to Redis through `tx`. `lease`: their effects live elsewhere, and a crash may repeat them. */
  readonly mode: 'isolated'
  /**
   * How long records are kept. A copy of a message that arrives later than this runs again, so keep them for longer
   * than a message may still be redelivered.
   */
  readonly recordTtlMs: number
}

/** `redisStore()` for `once()` around effects that live elsewhere. */
export interface LeaseRedisOptions extends CommonOptions {
  /** See `isolated`. */
  readonly mode: 'lease'
  /** How long the store remembers that a message was handled. Default 30 days. */
  readonly keepMs?: number | undefined
}

export interface CheckedOptions {
  readonly client: OpenedClient
  readonly hashTag: string
  readonly database: number | undefined
  readonly leaseMs: number
  readonly commandTimeoutMs: number
  readonly recordTtlMs: number
  readonly onWarning: (warning: RedisWarning) => void
}

const common = ['client', 'mode', 'hashTag', 'database', 'leaseMs', 'commandTimeoutMs', 'onWarning']
const aMonthMs = 30 * 24 * 3_600_000
/** Redis refuses more where a record is written, at the end of a commit of which everything else has been applied. */
const longestMs = Number.MAX_SAFE_INTEGER

export function checkedOptions(options: IsolatedRedisOptions | LeaseRedisOptions): CheckedOptions {
  checkChoice(options.mode, 'mode', ['isolated', 'lease'])
  checkOptions(options, [...common, options.mode === 'isolated' ? 'recordTtlMs' : 'keepMs'], 'redisStore()')
  const { hashTag = 'justonce', leaseMs = 30_000, commandTimeoutMs = 5_000, onWarning = warnProcess } = options
  const recordTtlMs = options.mode === 'isolated' ? options.recordTtlMs : (options.keepMs ?? aMonthMs)
  checkNumber(leaseMs, 'leaseMs', 30, longestMs)
  checkNumber(commandTimeoutMs, 'commandTimeoutMs', 1)
  checkNumber(recordTtlMs, options.mode === 'isolated' ? 'recordTtlMs' : 'keepMs', 1, longestMs)
  checkFunction(onWarning, 'onWarning')
  if (typeof hashTag !== 'string' || !/^[^{}]+$/.test(hashTag))
    throw invalid(`hashTag is ${JSON.stringify(hashTag)}, but must be a text without braces.`)
  const client = openClient(options.client)
  if (client === undefined) throw invalid('client is no client of node-redis or ioredis.')
  const { database } = options
  if (database !== undefined && (client.isCluster || !Number.isSafeInteger(database) || database < 0))
    throw invalid(`database is ${database}, but must be the number of a database, and is not for clusters.`)
  const { keyPrefix } = (options.client as { options?: { keyPrefix?: unknown } }).options ?? {}
  if (keyPrefix !== undefined && keyPrefix !== '')
    throw invalid(`The client has the keyPrefix ${JSON.stringify(keyPrefix)}, which scripts do not see. Use hashTag.`)
  refuseEndlessRepeats(options.client)
  return { client, hashTag, database, leaseMs, commandTimeoutMs, recordTtlMs, onWarning }
}

/** A server that does not know a script says so, always in the same words, and is sent the script then. */
function refuseEndlessRepeats(client: RedisClient): void {
  type Settings = { readonly reconnectOnError?: unknown; readonly redisOptions?: Settings }
  const { options } = client as { options?: Settings }
  for (const given of [options?.reconnectOnError, options?.redisOptions?.reconnectOnError]) {
    if (typeof given !== 'function' || given(new Error('NOSCRIPT No matching script. Please use EVAL.')) !== 2) continue
    throw invalid(
      'reconnectOnError of the client returns 2 for NOSCRIPT, so ioredis would send the same command again for ever. Return 2 for READONLY only.',
    )
  }
}

function warnProcess({ code, message }: RedisWarning): void {
  process.emitWarning(message, { type: 'justonce', code })
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
