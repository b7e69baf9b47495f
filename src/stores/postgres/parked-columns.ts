import type { StoredParkedMessage } from '../../contracts/index.ts'
import { bytesIn, type Cell, dateIn, textIn } from './cells.ts'
import type { Tables } from './tables.ts'

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

export function parkedIn(row: readonly Cell[]): StoredParkedMessage {
  const text = (index: number) => textIn(row[index])
  const originalBody = row[20] ?? undefined
  return {
    handler: text(0),
    key: text(1),
    messageId: text(2),
    type: text(3),
    source: text(4),
    state: row[5] === 'dead' ? 'dead' : 'waiting',
    reason: text(6),
    errors: text(7),
    shape: text(8),
    attempts: Number(text(9)),
    step: Number(text(10)),
    independent: row[11] === 't',
    orderKey: row[12] ?? undefined,
    sequence: Number(text(13)),
    revision: Number(text(14)),
    parkedAt: dateIn(row[15]),
    changedAt: dateIn(row[16]),
    nextAt: dateIn(row[17]),
    message: { envelope: bytesIn(row[18]), body: bytesIn(row[19]) },
    originalBody: originalBody === undefined ? undefined : bytesIn(originalBody),
    redrive: row[21] ?? undefined,
    begun: Number(row[22]),
  }
}
