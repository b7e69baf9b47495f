import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OutgoingMessage } from '../contracts/index.ts'
import { cloudEventHeaders, readCloudEvent } from './cloud-events.ts'

const message: OutgoingMessage = {
  id: 'm1',
  type: 'note.created',
  body: new Uint8Array(),
  headers: { tenant: 'a' },
  key: 'k',
  sentAt: new Date('2030-01-01T00:00:00Z'),
  expiresAt: new Date('2030-01-02T00:00:00Z'),
}

test('attributes are headers with the prefix of their wire', () => {
  expect(cloudEventHeaders(message, 'notes', 'ce_')).toEqual({
    tenant: 'a',
    ce_specversion: '1.0',
    ce_id: 'm1',
    ce_type: 'note.created',
    ce_source: 'notes',
    ce_time: '2030-01-01T00:00:00.000Z',
    ce_partitionkey: 'k',
    ce_expirytime: '2030-01-02T00:00:00.000Z',
  })
})

test('what was written is read again, on every wire, and nothing else is taken for it', () => {
  const text = fc.string({ minLength: 1, maxLength: 30 })
  const prefixes = fc.constantFrom('ce_' as const, 'ce-' as const, 'cloudEvents:' as const)
  fc.assert(
    fc.property(text, text, fc.option(text, { nil: undefined }), prefixes, (id, type, key, prefix) => {
      const { expiresAt: _, ...lasting } = message
      const read = readCloudEvent(cloudEventHeaders({ ...lasting, id, type, key }, 's', prefix), prefix)
      expect(read).toEqual({ id, type, key, sentAt: message.sentAt, expiresAt: undefined, headers: { tenant: 'a' } })
    }),
  )
})

test('plain headers say nothing, and a time that is none is not there', () => {
  expect(readCloudEvent({ tenant: 'a', ce_time: 'soon' }, 'ce_')).toEqual({
    id: undefined,
    type: undefined,
    key: undefined,
    sentAt: undefined,
    expiresAt: undefined,
    headers: { tenant: 'a' },
  })
})

test('the case of a header does not matter', () => {
  expect(readCloudEvent({ 'Ce-Id': 'm1', 'CE-Type': 't' }, 'ce-')).toMatchObject({ id: 'm1', type: 't', headers: {} })
})
