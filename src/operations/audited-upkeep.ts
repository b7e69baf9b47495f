import { systemClock } from '../clock/index.ts'
import type { Store } from '../contracts/index.ts'
import { type AuditEntry, keepAudit } from './audit.ts'
import type { WhoAndWhy } from './types.ts'
import { checkWhoAndWhy } from './who-and-why.ts'

type Audited<Tx> = Pick<Store<Tx>, 'facts' | 'transaction' | 'inbox'>

/** Records what an operator has done to the records, which no transaction of ours can hold together with its entry. */
export async function auditUpkeep<Tx>(
  store: Audited<Tx>,
  done: Pick<AuditEntry, 'action' | 'subject'>,
  signed: WhoAndWhy,
): Promise<void> {
  const entry = { ...done, ...checkWhoAndWhy(signed, done.action) }
  await store.transaction((tx) => keepAudit({ store, clock: systemClock }, tx, entry))
}

/** Empties every cache, and says who wanted it. */
export async function beginEpoch<Tx>(store: Audited<Tx>, signed: WhoAndWhy): Promise<void> {
  const entry = { action: 'new-epoch', subject: {}, ...checkWhoAndWhy(signed, 'new-epoch') } as const
  await store.transaction(async (tx) => {
    await store.inbox.forget(tx, [])
    await keepAudit({ store, clock: systemClock }, tx, entry)
  })
}
