import { randomBytes } from 'node:crypto'
import type { RecordKey } from '../../contracts/index.ts'
import type { Statements } from './statements.ts'

const selectEpoch = `SELECT epoch FROM main.justonce_meta`
const setEpoch = `UPDATE main.justonce_meta SET epoch = ?`
const hasRecord = `SELECT 1 FROM main.justonce_inbox WHERE handler = ? AND key = ?`

/** What one connection knows about the history of its file. */
interface Opening {
  /** Whether the epoch that this connection brings is yet to be written, written in the open transaction, or committed. */
  epoch: 'to bring' | 'brought' | 'committed'
  /** Claimed in the open transaction. */
  claimed: RecordKey | undefined
  /** A record whose commit was seen to succeed. */
  committed: RecordKey | undefined
}

const openings = new WeakMap<Statements, Opening>()

export function changeEpoch(statements: Statements): string {
  const epoch = randomBytes(8).toString('hex')
  statements.run(setEpoch, epoch)
  return epoch
}

export function readEpoch(statements: Statements): string {
  return statements.get<{ epoch: string }>(selectEpoch)?.epoch ?? ''
}

/**
 * The epoch that claims in our own transactions return. The row alone is not enough, because it is restored with a backup.
 * Nothing in a file shows whether it was copied back while nobody had it open, so every connection writes a new epoch with
 * its first claim. A connection that stays open looks for the last record that it has seen committed: if that is gone, the
 * file was overwritten in place.
 */
export function epochOfClaim(statements: Statements, ours: RecordKey | undefined): string {
  const opening = openingOf(statements)
  const { committed } = opening
  const isLost = committed !== undefined && statements.get(hasRecord, committed.handler, committed.key) === undefined
  opening.claimed = ours ?? opening.claimed
  if (opening.epoch !== 'to bring' && !isLost) return readEpoch(statements)
  opening.epoch = 'brought'
  opening.committed = undefined
  return changeEpoch(statements)
}

export function transactionEnded(statements: Statements, end: 'committed' | 'undone'): void {
  const opening = openingOf(statements)
  if (opening.epoch === 'brought') opening.epoch = end === 'committed' ? 'committed' : 'to bring'
  if (end === 'committed' && opening.claimed !== undefined) opening.committed = opening.claimed
  opening.claimed = undefined
}

function openingOf(statements: Statements): Opening {
  let opening = openings.get(statements)
  if (opening === undefined) {
    opening = { epoch: 'to bring', claimed: undefined, committed: undefined }
    openings.set(statements, opening)
  }
  return opening
}
