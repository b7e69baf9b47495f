import type { Store } from '../contracts/index.ts'
import { timeOfRevision } from '../facts/index.ts'
import { uuidv7 } from '../ids/index.ts'
import type { Site } from './site.ts'
import type { AuditedAction } from './types.ts'
import { checkWhole, mostListed } from './who-and-why.ts'

const kind = 'audit'

/** Who does what, and why. */
export interface AuditEntry extends Pick<AuditedAction, 'action' | 'by' | 'why'> {
  /** What the action is done to. */
  readonly subject: object
}

/** Records an operator's action, in the transaction of that action. */
export async function keepAudit<Tx>(
  { store, clock }: Pick<Site<Tx>, 'clock'> & { readonly store: Pick<Store<Tx>, 'facts'> },
  tx: Tx,
  ...entries: readonly AuditEntry[]
): Promise<void> {
  const facts = entries.map((entry) => {
    // Names made by one process grow, so that entries of the same moment stay in order.
    const name = `${kind} ${uuidv7(clock.now().getTime())}`
    return { name, from: undefined, value: JSON.stringify(entry), forMs: undefined }
  })
  await store.facts.change(tx, facts)
}

/** The actions of operators, latest first. */
export async function auditedActions<Tx>(
  { facts }: Pick<Store<Tx>, 'facts'>,
  limit = 100,
): Promise<readonly AuditedAction[]> {
  checkWhole(limit, 'limit', 1, mostListed)
  const found = await facts.list(kind, limit)
  // They are never changed, so the revision says when they were made.
  return found.map(({ value, revision }) => ({ ...entryIn(value), at: timeOfRevision(revision) }))
}

/** An entry that was changed by hand must not hide the others. */
function entryIn(value: string): Omit<AuditedAction, 'at'> {
  try {
    const { action, by, why, subject } = JSON.parse(value) as AuditEntry
    return { action, by, why, subject }
  } catch {
    return { action: 'unreadable', by: '', why: '', subject: value }
  }
}
