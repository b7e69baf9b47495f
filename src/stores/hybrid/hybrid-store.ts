import type { Hints, Store } from '../../contracts/index.ts'
import { checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import { type Hot, type HotClient, hotOf } from './hot.ts'
import { HotHints } from './hot-hints.ts'

export interface HybridStoreOptions<Cold> {
  /** A connected client of node-redis or ioredis, or anything of that small shape. It stays yours. */
  readonly hot: Hot | HotClient
  /** The store that keeps the promise. */
  readonly cold: Cold
  /** Begins the name of every key on the hot side. Default `justonce:hot:`. */
  readonly prefix?: string | undefined
  /** How long the hot side remembers. Default one hour. */
  readonly lifeMs?: number | undefined
  /** How long to wait for the hot side before asking the cold one. Default 50. */
  readonly timeoutMs?: number | undefined
  /** How long the hot side is left alone after trouble. Default 500. */
  readonly restMs?: number | undefined
}

const known = ['hot', 'cold', 'prefix', 'lifeMs', 'timeoutMs', 'restMs']

/**
 * The cold store with a fast memory in front of it that recognises most duplicates before a transaction is opened. The
 * promise is the cold store's alone: the hot side may be empty, wrong about what it has lost, or gone.
 *
 * @example
 * const store = hybridStore({ hot: redisClient, cold: postgresStore({ pool }) })
 */
export function hybridStore<Cold extends Store>(options: HybridStoreOptions<Cold>): Cold & { readonly hints: Hints } {
  checkOptions(options, known, 'hybridStore()')
  const { cold, prefix = 'justonce:hot:', lifeMs = 3_600_000, timeoutMs = 50, restMs = 500 } = options
  checkNumber(lifeMs, 'lifeMs', 1)
  checkNumber(timeoutMs, 'timeoutMs', 1)
  checkNumber(restMs, 'restMs', 0)
  const hot = hotOf(options.hot)
  if (hot === undefined)
    throw new JustonceError('OPTION_INVALID', { message: 'hot is no client of Redis, and has no get and set.' })
  if (typeof cold !== 'object' || cold === null || typeof cold.transaction !== 'function')
    throw new JustonceError('OPTION_INVALID', { message: 'cold is no store.' })
  const hints = new HotHints(hot, { prefix, lifeMs: Math.ceil(lifeMs), timeoutMs, restMs })
  return new Proxy(cold, {
    get(target, name) {
      if (name === 'hints') return hints
      const value: unknown = Reflect.get(target, name, target)
      // A store may keep its own things in private fields, which a proxy has not.
      return typeof value === 'function' ? value.bind(target) : value
    },
    has: (target, name) => name === 'hints' || Reflect.has(target, name),
  }) as Cold & { readonly hints: Hints }
}
