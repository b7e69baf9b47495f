import type { JustonceEvent } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import { waitsFor } from '../engine/retries/parked-rows.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import { ReportNowAndThen } from './report-now-and-then.ts'

type KeyBlocked = JustonceEvent & { readonly kind: 'key-blocked' }

/** The least time between two looks, while messages are being parked behind others. Otherwise one a minute is enough. */
const soonMs = 5_000
const everyMs = 60_000
/** The keys with the most waiting messages come first, and nobody reads more lines than these. */
const mostKeys = 20
/** If looking takes long, it is done less often. */
const restPerLook = 20

/**
 * Finds dead letters behind which messages of their key wait, reports them, and notes where no more may wait. Nothing else would
 * say so: one dead letter is a small thing until a million messages stand behind it.
 */
export function blockedKeysWatch<Tx>(engine: Engine<Tx>, gate: Gate): Loop {
  const { clock, events, blockedKeys } = engine
  const report = new ReportNowAndThen(clock)
  let nextLookAt = Number.NEGATIVE_INFINITY
  const loop: Loop = new Loop({
    name: 'blocked keys',
    clock,
    events,
    gate,
    async round() {
      const begunAt = clock.monotonicMs()
      const found = await findBlocked(engine)
      blockedKeys.learn(found.filter(({ isFull }) => isFull))
      const named = found.map((key) => [`${key.isFull} ${key.handler} ${key.orderKey}`, key] as const)
      if (report.isDue(new Map(named))) for (const key of found) events.emit(key)
      const now = clock.monotonicMs()
      const restMs = Math.max(soonMs, (now - begunAt) * restPerLook)
      nextLookAt = now + restMs
      return Math.max(everyMs * (0.75 + clock.random() / 2), restMs)
    },
    afterFailure: { leastMs: soonMs, mostMs: everyMs },
  })
  blockedKeys.watchedBy(() => {
    if (clock.monotonicMs() >= nextLookAt) loop.wake()
  })
  return loop
}

async function findBlocked<Tx>({ store, handlerNamed }: Engine<Tx>): Promise<readonly KeyBlocked[]> {
  const waiting = { state: 'waiting', reason: waitsFor.message } as const
  const found: KeyBlocked[] = []
  for (const { handler, orderKey, count } of await store.parking.tally(waiting, ['handler', 'orderKey'], mostKeys)) {
    const known = handlerNamed(handler)
    if (known?.ordered?.whenDead !== 'block' || orderKey === undefined) continue
    const [head] = await store.parking.list({ handler, orderKey }, { limit: 1 })
    if (head?.state !== 'dead') continue
    // Behind rows of a former name others must wait under that name, or they would overtake them.
    const isFull = handler === known.name && count >= known.ordered.mostBehind
    found.push({ kind: 'key-blocked', handler, orderKey, key: head.key, waiting: count, isFull })
  }
  return found
}
