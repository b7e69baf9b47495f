import type { Inbox, NewParkedMessage, Parking, RecordKey } from '../../contracts/index.ts'
import type { NewIntent } from './new-intent.ts'

/** Which of the intents of a transaction are really made. */
export interface ClaimedIntents {
  readonly rows: readonly NewParkedMessage[]
  /** Records of those that must say that a row owns them. */
  readonly claimed: readonly RecordKey[]
  /** Those that were made before, by another transaction or in this one. */
  readonly duplicates: readonly RecordKey[]
}

export const noIntents: ClaimedIntents = { rows: [], claimed: [], duplicates: [] }

/**
 * Claims the records of intents that something else may intend, too. Afterwards only `rows` and `claimed` are left to write. An
 * intent without a key is unique by itself: only one run of its handler ever commits.
 */
export async function claimIntents<Tx>(
  inbox: Pick<Inbox<Tx>, 'claim'>,
  tx: Tx,
  intents: readonly NewIntent[],
): Promise<ClaimedIntents> {
  const toClaim = new Map<string, NewIntent>()
  const duplicates: RecordKey[] = []
  for (const intent of intents) {
    if (!intent.isClaimed) continue
    const name = nameOf(intent.row)
    if (toClaim.has(name)) duplicates.push(keyOf(intent.row))
    else toClaim.set(name, intent)
  }
  const plain = intents.filter(({ isClaimed }) => !isClaimed).map(({ row }) => row)
  if (toClaim.size === 0) return { rows: plain, claimed: [], duplicates }
  // In one order everywhere, so that two transactions that intend the same do not deadlock.
  const sorted = [...toClaim.values()].map(({ row }) => row).sort(byKey)
  const { existing } = await inbox.claim(
    tx,
    sorted.map(({ handler, key }) => ({ handler, key, fingerprint: undefined })),
  )
  const ours = sorted.filter((_, index) => existing[index] === undefined)
  duplicates.push(...sorted.filter((_, index) => existing[index] !== undefined).map(keyOf))
  return { rows: [...plain, ...ours], claimed: ours.map(keyOf), duplicates }
}

/** The writes that remain; nothing but the commit needs to follow. */
export async function writeIntents<Tx>(
  { inbox, parking }: { readonly inbox: Pick<Inbox<Tx>, 'update'>; readonly parking: Pick<Parking<Tx>, 'park'> },
  tx: Tx,
  { rows, claimed }: ClaimedIntents,
): Promise<void> {
  if (claimed.length > 0)
    await inbox.update(
      tx,
      claimed.map((key) => ({ ...key, state: 'parked', claimed: true })),
    )
  if (rows.length > 0) await parking.park(tx, rows)
}

function keyOf({ handler, key }: RecordKey): RecordKey {
  return { handler, key }
}

function nameOf({ handler, key }: RecordKey): string {
  return JSON.stringify([handler, key])
}

function byKey(a: RecordKey, b: RecordKey): number {
  return a.handler < b.handler ? -1 : a.handler > b.handler ? 1 : a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}
