import type { IncomingMessage, RecordKey, Store } from '../contracts/index.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
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
 * Hands dead letters to the shard that they belong to by now. A message is handled there first, by all handlers, with its own id and the
 * body as it was sent, and discarded where it was after that: if this ends in between, it is a duplicate the next time.
 */
export async function reassign(
  apps: Readonly<Record<string, Reassignable>>,
  shardOf: (message: IncomingMessage) => string | undefined,
  whoAndWhy: WhoAndWhy,
): Promise<Reassigned> {
  const counts = { moved: 0, redriven: 0, left: 0 }
  for (const [here, app] of Object.entries(apps)) {
    for await (const letter of lettersWithoutShard(app)) {
      const message = await messageOf(app, letter)
      if (message === undefined) continue
      const shard = shardOf(message)
      if (shard === undefined) counts.left++
      else if (shard === here) {
        await app.operations.letters.redrive(keyOf(letter), whoAndWhy)
        counts.redriven++
      } else {
        await apps[shard]?.deliver(message)
        await discard(app, letter, whoAndWhy)
        counts.moved++
      }
    }
  }
  return counts
}

async function* lettersWithoutShard({ operations }: Reassignable): AsyncGenerator<DeadLetter> {
  for (let after: number | undefined; ; ) {
    const page = await operations.letters.list({ reason: 'SHARD_UNKNOWN' }, { after })
    if (page.length === 0) return
    yield* page.filter(({ redrive }) => redrive === undefined)
    after = page.at(-1)?.sequence
  }
}

/** As it was sent: a body that is encoded again could differ from that of a copy. `undefined` if somebody else was faster. */
async function messageOf({ store }: Reassignable, letter: DeadLetter): Promise<IncomingMessage | undefined> {
  const [row] = await store.parking.list({ keys: [keyOf(letter)] })
  return row === undefined ? undefined : unpackLetter(row.message)
}

/** The later handlers of the message wait behind the letter: they go first, or they would get their turn here. */
async function discard({ operations }: Reassignable, letter: DeadLetter, whoAndWhy: WhoAndWhy): Promise<void> {
  const { messageId, source } = letter
  const waiting = await operations.retries.list({ messageId, source, reason: 'WAITS_FOR_EARLIER_HANDLER' })
  if (waiting.length > 0) await operations.retries.discard(waiting.map(keyOf), whoAndWhy)
  await operations.letters.discard(keyOf(letter), whoAndWhy)
}

function keyOf({ handler, key }: RecordKey): RecordKey {
  return { handler, key }
}
