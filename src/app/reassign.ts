import type { IncomingMessage, RecordKey, Store } from '../contracts/index.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { waitsFor, wasGivenUp } from '../engine/retries/parked-rows.ts'
import { isJustonceError } from '../errors/index.ts'
import type { DeadLetter, WhoAndWhy } from '../operations/index.ts'
import type { App } from './types.ts'

/** What became of the dead letters whose shard was not known. */
export interface Reassigned {
  /** Handed to the shard that they belong to, and discarded where they were. */
  readonly moved: number
  /** They belong to the shard that has them: they are redriven there. */
  readonly redriven: number
  /** Nobody knows their shard yet. */
  readonly left: number
}

export type Reassignable = Pick<App<Store, object>, 'store' | 'operations' | 'deliver'>

/**
 * Hands dead letters, and what waits behind them in the order of a key, to the shard that they belong to by now. A message is handled
 * there first, by all handlers, with its own id and the body as it was sent, and discarded where it was after that: if this ends in
 * between, it is a duplicate the next time.
 */
export async function reassign(
  apps: Readonly<Record<string, Reassignable>>,
  shardOf: (message: IncomingMessage) => string | undefined,
  whoAndWhy: WhoAndWhy,
): Promise<Reassigned> {
  const counts = { moved: 0, redriven: 0, left: 0 }
  for (const [here, app] of Object.entries(apps)) {
    const moved: Parked[] = []
    // The letters go last: as long as they are there, nothing behind them gets its turn in the wrong shard.
    for await (const each of withoutShard(app)) {
      const message = await messageOf(app, each)
      if (message === undefined) continue
      const shard = shardOf(message)
      if (shard === undefined) counts.left++
      else if (shard !== here) {
        await apps[shard]?.deliver(message)
        moved.push(each)
        counts.moved++
      } else if (!each.isBehind) {
        await unlessGone(app.operations.letters.redrive(keyOf(each), whoAndWhy))
        counts.redriven++
      }
    }
    for (const each of moved.toReversed()) await discard(app, each, whoAndWhy)
  }
  return counts
}

/** A dead letter, or a message that waits for an earlier one of its key. */
type Parked = Pick<DeadLetter, 'handler' | 'key' | 'messageId' | 'source'> & { readonly isBehind: boolean }

function parked({ handler, key, messageId, source }: Omit<Parked, 'isBehind'>, isBehind: boolean): Parked {
  return { handler, key, messageId, source, isBehind }
}

/** First the letters and then what is behind them, each in the order in which they were parked: that of their keys. */
async function* withoutShard({ operations, store }: Reassignable): AsyncGenerator<Parked> {
  for (let after: number | undefined; ; ) {
    const page = await operations.letters.list({ reason: 'SHARD_UNKNOWN' }, { after })
    if (page.length === 0) break
    for (const letter of page) if (letter.redrive === undefined) yield parked(letter, false)
    after = page.at(-1)?.sequence
  }
  for (let after: number | undefined; ; ) {
    const page = await store.parking.list({ state: 'waiting', reason: waitsFor.message }, { after, limit: 100 })
    if (page.length === 0) return
    for (const row of page) if (wasGivenUp(row)) yield parked(row, true)
    after = page.at(-1)?.sequence
  }
}

/** As it was sent: a body that is encoded again could differ from that of a copy. `undefined` if somebody else was faster. */
async function messageOf({ store }: Reassignable, parked: Parked): Promise<IncomingMessage | undefined> {
  const [row] = await store.parking.list({ keys: [keyOf(parked)] })
  return row === undefined ? undefined : unpackLetter(row.message)
}

/** The later handlers of the message wait behind it: they go first, or they would get their turn here. */
async function discard({ operations }: Reassignable, parked: Parked, whoAndWhy: WhoAndWhy): Promise<void> {
  const { messageId, source, isBehind } = parked
  const later = await operations.retries.list({ messageId, source, reason: waitsFor.handler })
  const waiting = [...later.map(keyOf), ...(isBehind ? [keyOf(parked)] : [])]
  if (waiting.length > 0) await operations.retries.discard(waiting, whoAndWhy)
  if (!isBehind) await unlessGone(operations.letters.discard(keyOf(parked), whoAndWhy))
}

/** Somebody who does the same at the same time may have been faster. */
async function unlessGone(done: Promise<unknown>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!isJustonceError(error, 'LETTERS_NONE_FOUND') && !isJustonceError(error, 'REDRIVE_RUNNING')) throw error
  })
}

function keyOf({ handler, key }: RecordKey): RecordKey {
  return { handler, key }
}
