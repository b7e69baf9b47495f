import type { NewParkedMessage, StoredParkedMessage } from '../../contracts/index.ts'
import { text } from './connection.ts'

/** The fields that a search may read, and the position of the row. */
export const searchedFields = [
  'sequence',
  'handler',
  'key',
  'state',
  'type',
  'source',
  'reason',
  'shape',
  'messageId',
  'orderKey',
  'businessId',
  'parkedAt',
  'changedAt',
  'revision',
  'attempts',
  'redrive',
  'released',
  'errors',
] as const

export type SearchedRow = Readonly<Partial<Record<(typeof searchedFields)[number], string>>>

/** A new row as names and values. The server adds counters and times. */
export function rowFields(message: NewParkedMessage): (string | number)[] {
  const { handler, key, messageId, type, source, state, attempts, reason, errors, shape, independent, orderKey } =
    message
  const { envelope, body } = message.message
  const { redrive, originalBody, businessId } = message
  const fields = { handler, key, messageId, type, source, state, attempts, reason, errors, shape }
  const named = Object.entries(fields).flat()
  const bytes = ['envelope', base64(envelope), 'body', base64(body)]
  const order = orderKey === undefined ? [] : ['orderKey', orderKey]
  const released = redrive === undefined ? [] : ['redrive', redrive, 'released', '1']
  const received = originalBody === undefined ? [] : ['originalBody', base64(originalBody)]
  const business = businessId === undefined ? [] : ['businessId', businessId]
  return [...named, ...bytes, 'independent', independent ? '1' : '0', ...order, ...released, ...received, ...business]
}

/** A row from the flat answer of the server; `undefined` if it is gone. */
export function readRow(reply: unknown): StoredParkedMessage | undefined {
  const flat = (reply as unknown[]).map(text)
  const row = new Map(Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2] as string, flat[i * 2 + 1] ?? '']))
  if (row.size === 0) return undefined
  const at = (name: string): string => row.get(name) ?? ''
  const number = (name: string): number => Number(at(name))
  const date = (name: string): Date => new Date(number(name))
  const bytes = (name: string): Uint8Array => new Uint8Array(Buffer.from(at(name), 'base64'))
  return {
    handler: at('handler'),
    key: at('key'),
    messageId: at('messageId'),
    type: at('type'),
    source: at('source'),
    message: { envelope: bytes('envelope'), body: bytes('body') },
    state: at('state') === 'dead' ? 'dead' : 'waiting',
    attempts: number('attempts'),
    reason: at('reason'),
    errors: at('errors'),
    shape: at('shape'),
    step: number('step'),
    independent: at('independent') === '1',
    orderKey: row.get('orderKey'),
    sequence: number('sequence'),
    revision: number('revision'),
    begun: number('begun'),
    parkedAt: date('parkedAt'),
    changedAt: date('changedAt'),
    nextAt: date('nextAt'),
    originalBody: row.has('originalBody') ? bytes('originalBody') : undefined,
    redrive: row.get('redrive'),
    released: at('released') === '1',
    businessId: row.get('businessId'),
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
