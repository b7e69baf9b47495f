import type { Tables } from '../tables.ts'

export const inMs = (column: string): string => `floor(extract(epoch FROM ${column}) * 1000)`

/**
 * Rows keep the mark of a redrive that has ended, because taking it away would have to wait for everyone who is just
 * trying one of them. So a mark counts only while its redrive is running.
 */
export function isRunning({ redrives }: Tables, id: string): string {
  return `EXISTS (SELECT FROM ${redrives} AS its WHERE its.id = ${id} AND its.state = 'running')`
}

/** In the order in which `parkedIn` reads them. */
export function parkedColumns({ redrives }: Tables): string {
  return `handler, key, message_id, type, source, state, reason, errors, shape, attempts, step, independent, order_key,
    id, revision, ${inMs('parked_at')}, ${inMs('changed_at')}, ${inMs('next_at')},
    encode(envelope, 'hex'), encode(body, 'hex'), encode(original_body, 'hex'),
    (SELECT its.id FROM ${redrives} AS its WHERE its.id = redrive AND its.state = 'running') AS running, begun`
}
