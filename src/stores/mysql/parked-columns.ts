import type { StoredParkedMessage } from '../../contracts/index.ts'
import { bytesIn, type Cell, dateIn, numberIn, optionalTextIn, textIn } from './cells.ts'
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
    id, revision, parked_at, changed_at, next_at, envelope, body, original_body,
    (SELECT its.id FROM ${redrives} AS its WHERE its.id = ${parked}.redrive AND its.state = 'running'), begun`
}

export function parkedIn(row: readonly Cell[]): StoredParkedMessage {
  const text = (index: number) => textIn(row[index])
  return {
    handler: text(0),
    key: text(1),
    messageId: text(2),
    type: text(3),
    source: text(4),
    state: text(5) === 'dead' ? 'dead' : 'waiting',
    reason: text(6),
    errors: text(7),
    shape: text(8),
    attempts: numberIn(row[9]),
    step: numberIn(row[10]),
    independent: text(11) === '1',
    orderKey: optionalTextIn(row[12]),
    sequence: numberIn(row[13]),
    revision: numberIn(row[14]),
    parkedAt: dateIn(row[15]),
    changedAt: dateIn(row[16]),
    nextAt: dateIn(row[17]),
    message: { envelope: bytesIn(row[18]), body: bytesIn(row[19]) },
    originalBody: row[20] ?? undefined,
    redrive: optionalTextIn(row[21]),
    begun: numberIn(row[22]),
  }
}
