import { checkWhole, mostListed } from './signature.ts'
import { operable, type Site } from './site.ts'
import type { AuditedAction } from './types.ts'

/** What people did, the latest first. */
export async function auditedActions<Tx>(site: Site<Tx>, limit = 100): Promise<readonly AuditedAction[]> {
  checkWhole(limit, 'limit', 1, mostListed)
  const entries = await operable(site).store.audit.list(limit)
  return entries.map(({ subject, ...entry }) => ({ ...entry, subject: parsedOrText(subject) }))
}

/** One that somebody has changed by hand must not hide the others. */
function parsedOrText(subject: string): unknown {
  try {
    return JSON.parse(subject)
  } catch {
    return subject
  }
}
