import type { Hints } from '../contracts/index.ts'
import { checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import { type Hot, type HotClient, hotOf } from './hot.ts'
import { HotHints } from './hot-hints.ts'

/** What `hotSide()` takes. */
export interface HotSideOptions {
  /** A connected client of node-redis or ioredis, or an object with `get` and `set`. You keep ownership of it. */
  readonly client: Hot | HotClient
  /** The prefix of every key on the hot side. Default: `justonce:hot:`. */
  readonly prefix?: string | undefined
  /** How long the hot side remembers. Default: one hour. */
  readonly lifeMs?: number | undefined
  /** How long to wait for the hot side before asking the store. Default: 50. */
  readonly timeoutMs?: number | undefined
  /** How long the hot side is not used after trouble. Default: 500. */
  readonly restMs?: number | undefined
}

const known = ['client', 'prefix', 'lifeMs', 'timeoutMs', 'restMs']

/**
 * A fast cache that recognises most duplicates before a transaction is opened. Only the store keeps the promise: the hot
 * side may be empty, may have lost entries, or may be gone.
 *
 * @example
 * const app = justonce({ store: postgresStore({ pool }), hints: hotSide({ client: redisClient }) })
 */
export function hotSide(options: HotSideOptions): Hints {
  checkOptions(options, known, 'hotSide()')
  const { prefix = 'justonce:hot:', lifeMs = 3_600_000, timeoutMs = 50, restMs = 500 } = options
  checkNumber(lifeMs, 'lifeMs', 1)
  checkNumber(timeoutMs, 'timeoutMs', 1)
  checkNumber(restMs, 'restMs', 0)
  const hot = hotOf(options.client)
  if (hot === undefined)
    throw new JustonceError('OPTION_INVALID', {
      message: 'client is neither a Redis client nor an object with get and set.',
    })
  return new HotHints(hot, { prefix, lifeMs: Math.ceil(lifeMs), timeoutMs, restMs })
}
