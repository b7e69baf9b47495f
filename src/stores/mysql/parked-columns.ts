import type { Tables } from './tables.ts'

/**
 * Rows keep the mark of a redrive that has ended, because taking it away would have to wait for everyone who is just
 * trying one of them. So a mark counts only while its redrive is running.
 */
export function isRunning({ redrives }: Tables, id: string): string {
  return `EXISTS (SELECT 1 FROM ${redrives} AS its WHERE its.id = ${id} AND its.state = 'running')`
}

/** In the order in which `parkedIn` reads them, of the parked table without an alias. */
export function parkedColumns({ parked, redrives }: Tables): string {
  return `handler, \`key\`, message_id, type, source, state, reason, errors, shape, attempts, step, independent, order_key,
    id, revision, parked_at, changed_at, next_at, envelope, \`body\`, original_body,
    (SELECT its.id FROM ${redrives} AS its WHERE its.id = ${parked}.redrive AND its.state = 'running'), begun`
}
