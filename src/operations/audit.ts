import type { Store } from '../contracts/index.ts'
import { timeOfRevision } from '../facts/index.ts'
import { uuidv7 } from '../ids/index.ts'
import { checkWhole, mostListed } from './signature.ts'
import type { Site } from './site.ts'
import type { AuditedAction } from './types.ts'

const kind = 'audit'

/** Who does what, and why. */
export interface AuditEntry extends Pick<AuditedAction, 'action' | 'by' | 'why'> {
  /** What it is done to. */
  readonly subject: object
}

/** Keeps what somebody did, in the transaction in which it is done. */
export async function keepAudit<Tx>(
  { store, clock }: Pick<Site<Tx>, 'store' | 'clock'>,
  tx: Tx,
  ...entries: readonly AuditEntry[]
): Promise<void> {
  const facts = entries.map((entry) => {
    // Names of one process grow, so that what was kept at the same moment stays in order.
    const name = `${kind} ${uuidv7(clock.now().getTime())}`
    return { name, from: undefined, value: JSON.stringify(entry), forMs: undefined }
  })
  await store.facts.change(tx, facts)
}

/** What people did, the latest first. */
export async function auditedActions<Tx>(
  { facts }: Pick<Store<Tx>, 'facts'>,
  limit = 100,
): Promise<readonly AuditedAction[]> {
  checkWhole(limit, 'limit', 1, mostListed)
  const found = await facts.list(kind, limit)
  // Nobody ever changes them, so the revision is when they were made.
  return found.map(({ value, revision }) => ({ ...entryIn(value), at: timeOfRevision(revision) }))
}

/** One that somebody has changed by hand must not hide the others. */
function entryIn(value: string): Omit<AuditedAction, 'at'> {
  try {
    const { action, by, why, subject } = JSON.parse(value) as AuditEntry
    return { action, by, why, subject }
  } catch {
    return { action: 'unreadable', by: '', why: '', subject: value }
  }
}
