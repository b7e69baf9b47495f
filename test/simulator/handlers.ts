import type { Message } from '../../src/contracts/index.ts'
import type { SimProcess } from './process.ts'
import type { Behaviour } from './scenario.ts'
import type { SimTx } from './store/sim-tx.ts'

/** What messages of a scenario carry. */
export interface Order {
  readonly behaviour: Behaviour
}

/** What is published of each effect: which message it was of, and which handler's. */
export interface Done extends Order {
  readonly of: string
  readonly by: string
}

/** Of every handler. */
export const attempts = 8

let runs = 0

/** The behaviours that no number of attempts can overcome. */
export function endsAsDeadLetter(behaviour: Behaviour): boolean {
  return ['throws-always', 'kills-always', 'throws-then-kills', 'looks-away', 'cuts-always'].includes(behaviour)
}

/** Each run leaves a row of its own, so that two runs of one message can be distinguished; a balance is kept beside it, which says where in its key it came. */
export async function effect(tx: SimTx, handler: string, message: Message<Order>, at?: number): Promise<void> {
  let place = 0
  await tx.update('balances', message.key ?? 'none', (row) => {
    place = ((row?.total as number) ?? 0) + 1
    return { total: place }
  })
  await tx.insert('effects', `${handler}|${message.id}|${runs++}`, { handler, message: message.id, place, at })
}

/** What a world remembers of its handlers across restarts: which messages have misbehaved already. */
export type Misbehaved = Set<string>

/** Handles a message as its behaviour says. The bad ones are what real handlers do. */
export async function behave(
  tx: SimTx,
  handler: string,
  message: Message<Order>,
  process: SimProcess,
  { misbehaved: done, mendedAt = Number.POSITIVE_INFINITY }: { misbehaved: Misbehaved; mendedAt: number | undefined },
): Promise<void> {
  const { behaviour } = message.body
  if (endsAsDeadLetter(behaviour) && process.clock.monotonicMs() >= mendedAt) return await effect(tx, handler, message)
  const first = !done.has(`${handler}|${message.id}`)
  done.add(`${handler}|${message.id}`)
  switch (behaviour) {
    case 'throws-once':
      await effect(tx, handler, message)
      if (first) throw new Error('fails the first time')
      return
    case 'throws-always':
      await effect(tx, handler, message)
      throw new Error('fails every time')
    case 'hangs-once':
      await effect(tx, handler, message)
      if (first) await new Promise(() => {})
      return
    case 'forgets-await':
      await effect(tx, handler, message)
      // Not awaited: its second write comes when the handler has long returned.
      void tx
        .update('stray', message.id, () => ({}))
        .then(() => tx.insert('late', message.id, { handler }))
        .catch(() => {})
      return
    case 'leaves-sibling':
      if (!first) return await effect(tx, handler, message)
      await Promise.all([Promise.reject(new Error('one fails')), effect(tx, handler, message)])
      return
    case 'commits':
      await effect(tx, handler, message)
      if (first) await tx.hiddenCommit().catch(() => {})
      if (first) await tx.insert('escaped', message.id, {}).catch(() => {})
      return
    case 'swallows':
      await effect(tx, handler, message)
      if (first) await tx.violate().catch(() => {})
      return
    case 'looks-away':
      await effect(tx, handler, message)
      return await tx.looksAway()
    case 'cuts-once':
    case 'cuts-always':
      if (first || behaviour === 'cuts-always') await tx.cut()
      return await effect(tx, handler, message)
    case 'kills-once':
      await effect(tx, handler, message)
      if (!first) return
      process.die()
      return await new Promise(() => {})
    case 'throws-then-kills':
    case 'kills-always':
      await effect(tx, handler, message)
      if (first && behaviour === 'throws-then-kills') throw new Error('fails before it kills')
      process.die()
      return await new Promise(() => {})
    case 'slow':
      await process.clock.sleep(1_000)
      return await effect(tx, handler, message, process.clock.monotonicMs())
    default:
      return await effect(tx, handler, message, process.clock.monotonicMs())
  }
}

/** The same for a handler without a transaction: its effect commits by itself, and it misbehaves after that. */
export async function behaveOutside(
  write: (work: (tx: SimTx) => Promise<void>) => Promise<void>,
  handler: string,
  message: Message<Order>,
  process: SimProcess,
  { misbehaved: done, mendedAt = Number.POSITIVE_INFINITY }: { misbehaved: Misbehaved; mendedAt: number | undefined },
): Promise<void> {
  const { behaviour } = message.body
  await write((tx) => effect(tx, handler, message))
  const first = !done.has(`${handler}|${message.id}`)
  done.add(`${handler}|${message.id}`)
  if (endsAsDeadLetter(behaviour) ? process.clock.monotonicMs() >= mendedAt : !first) return
  if (behaviour === 'hangs-once') await new Promise(() => {})
  if (behaviour.includes('kills') && (first ? behaviour !== 'throws-then-kills' : true)) {
    process.die()
    await new Promise(() => {})
  }
  if (behaviour.includes('throws') || endsAsDeadLetter(behaviour)) throw new Error('fails after its effect')
}
