import type { StoredParkedMessage } from '../../contracts/index.ts'
import { bytes } from './statements.ts'

export interface ParkedRow {
  readonly sequence: number
  readonly revision: number
  readonly handler: string
  readonly key: string
  readonly message_id: string
  readonly type: string
  readonly source: string
  readonly order_key: string | null
  readonly step: number
  readonly independent: number
  readonly state: 'waiting' | 'dead'
  readonly attempts: number
  readonly begun: number
  readonly parked_at: number
  readonly changed_at: number
  readonly next_at: number
  readonly redrive: string | null
  readonly released: number
  readonly reason: string
  readonly shape: string
  readonly errors: string
  readonly envelope: Uint8Array
  readonly body: Uint8Array
  readonly original_body: Uint8Array | null
}

export function parkedMessage(row: ParkedRow): StoredParkedMessage {
  const { sequence, revision, handler, key, type, source, step, state, attempts, begun, reason, shape, errors } = row
  return {
    sequence,
    revision,
    handler,
    key,
    messageId: row.message_id,
    type,
    source,
    message: { envelope: bytes(row.envelope), body: bytes(row.body) },
    originalBody: row.original_body === null ? undefined : bytes(row.original_body),
    state,
    attempts,
    begun,
    reason,
    shape,
    errors,
    step,
    independent: row.independent === 1,
    orderKey: row.order_key ?? undefined,
    redrive: row.redrive ?? undefined,
    released: row.released === 1,
    parkedAt: new Date(row.parked_at),
    changedAt: new Date(row.changed_at),
    nextAt: new Date(row.next_at),
  }
}
