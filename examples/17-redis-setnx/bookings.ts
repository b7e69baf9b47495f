import { justonce, messages } from 'justonce'
import { hotSide } from 'justonce/hints'
import { memoryTransport } from 'justonce/memory'
import { sqliteStore } from 'justonce/sqlite'

const entries = new Map<string, string>()

/** Stands for Redis, so that this runs without a server: `hotSide({ client: createClient({ disableOfflineQueue: true }) })`. */
export const hot = {
  get: async (keys: readonly string[]) => keys.map((key) => entries.get(key)),
  set: async (some: readonly (readonly [string, string])[]) => {
    for (const [key, value] of some) entries.set(key, value)
  },
  forgetAll: () => entries.clear(),
}

/** One of several processes that book payments: the database decides, and the hot side only saves it work. */
export function openProcess(path: string) {
  const store = sqliteStore({ path })
  const broker = memoryTransport()
  const app = justonce({
    ...{ store, transport: broker, hints: hotSide({ client: hot }), log: false },
    messages: messages<{ 'payment.made': { cents: number } }>(),
  })
  let failures = 1
  app.on('payment.made', { name: 'book', retry: { attempts: 5, backoff: () => 10 } }, ({ id, body }, { tx }) => {
    tx.prepare('insert into bookings values (?, ?)').run(id, body.cents)
    if (id === 'p-3' && failures-- > 0) throw new Error('the disk is full')
  })
  return { store, broker, app }
}
