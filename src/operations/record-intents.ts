import type { Inbox, RecordChange, StoredParkedMessage } from '../contracts/index.ts'
import { timeOfUuidV7 } from '../ids/index.ts'

interface EndedIntent {
  readonly row: Pick<StoredParkedMessage, 'handler' | 'key' | 'messageId'>
  readonly state: 'processed' | 'discarded'
  readonly result: string | undefined
}

/**
 * Records how intents have ended, in the transaction that removes their rows. An intent with a key of the user's has had a record
 * since it was intended; the others get theirs now, with the time in their id, so that retention can remove it.
 */
export async function recordIntents<Tx>(
  inbox: Pick<Inbox<Tx>, 'claim' | 'update'>,
  tx: Tx,
  ended: readonly EndedIntent[],
): Promise<void> {
  if (ended.length === 0) return
  const sorted = [...ended].sort((a, b) => compare(a.row.handler, b.row.handler) || compare(a.row.key, b.row.key))
  const keys = sorted.map(({ row: { handler, key, messageId } }) => ({
    handler,
    key,
    born: key === messageId ? timeOfUuidV7(key) : undefined,
  }))
  const { existing, tooOld } = await inbox.claim(
    tx,
    keys.map((key) => ({ ...key, fingerprint: undefined })),
  )
  const changes = sorted.flatMap(({ state, result }, index): RecordChange[] => {
    // So old that its record would have been removed by now.
    if (tooOld?.has(index)) return []
    const claimed = existing[index] === undefined
    if (claimed && state === 'processed' && result === undefined) return []
    return [{ ...(keys[index] as (typeof keys)[number]), state, result, claimed }]
  })
  if (changes.length > 0) await inbox.update(tx, changes)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
