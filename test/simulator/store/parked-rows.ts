import type { OrderScope, ParkedFilter, StoredParkedMessage } from '../../../src/contracts/index.ts'
import { isOfKind } from '../../../src/stores/shared/fits-filter.ts'
import type { Session } from '../database/connection.ts'
import type { ServerTransaction } from '../database/server-transaction.ts'
import type { Row, Visible } from '../database/sim-database.ts'
import { name } from './inbox.ts'

export const parkedTable = 'parked'

export type Parked = StoredParkedMessage & Row

export const bySequence = (a: Row, b: Row): number => (a as Parked).sequence - (b as Parked).sequence

export const byDueTime = (a: Row, b: Row): number =>
  (a as Parked).nextAt.getTime() - (b as Parked).nextAt.getTime() || bySequence(a, b)

/** In the order in which they were parked. */
export function scanParked(tx: ServerTransaction, session: Session): Parked[] {
  return session.database
    .scan(tx, parkedTable)
    .map(({ row }) => row as Parked)
    .sort(bySequence)
}

export function fits(row: Parked, filter: ParkedFilter): boolean {
  const { kind, errorText, since, before, keys, notInRedrives, ...same } = filter
  if (!isOfKind(row.handler, { kind })) return false
  // Error histories are JSON, which writes a quote in a message as \".
  if (errorText !== undefined && !row.errors.includes(JSON.stringify(errorText).slice(1, -1))) return false
  if (since !== undefined && row.changedAt < since) return false
  if (before !== undefined && row.changedAt >= before) return false
  if (keys !== undefined && !keys.some((key) => name(key) === name(row))) return false
  if (row.redrive !== undefined && notInRedrives?.includes(row.redrive)) return false
  return Object.entries(same).every(([field, wanted]) => wanted === undefined || row[field] === wanted)
}

export function waitsForStep(parked: Parked, all: readonly Visible[]): boolean {
  if (parked.independent) return false
  return all.some(({ row }) => {
    const other = row as Parked
    const isSameMessage =
      other.messageId === parked.messageId && other.type === parked.type && other.source === parked.source
    return isSameMessage && other.step < parked.step
  })
}

export function waitsForOrder(parked: Parked, all: readonly Visible[], pastDead: readonly string[]): boolean {
  const { handler, orderKey, sequence } = parked
  if (orderKey === undefined) return false
  const scope = { handler, orderKey, pastDead: pastDead.includes(handler) }
  return all.some(({ row }) => holdsUp(row as Parked, scope) && (row as Parked).sequence < sequence)
}

export function holdsUp(row: Parked, { handler, orderKey, pastDead }: OrderScope): boolean {
  return row.handler === handler && row.orderKey === orderKey && !(pastDead && row.state === 'dead')
}
