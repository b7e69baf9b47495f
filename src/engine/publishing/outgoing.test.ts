import { expect, test } from 'vitest'
import { encodeOutgoing } from './outgoing.ts'

const now = new Date('2030-01-01T00:00:00Z')

test('the moment from which nobody wants a message goes along with it', () => {
  const expiresAt = new Date('2030-01-01T00:05:00Z')
  const message = encodeOutgoing({ type: 'note.tagged', body: {}, options: { expiresAt }, now })
  expect(message.expiresAt).toEqual(expiresAt)
  expect(encodeOutgoing({ type: 'note.tagged', body: {}, now }).expiresAt).toBeUndefined()
})

test.for([new Date(Number.NaN), '2030-01-01', 1_893_456_000_000, null])('%s is not such a moment', (wrong) => {
  const options = { expiresAt: wrong as Date }
  expect(() => encodeOutgoing({ type: 'note.tagged', body: {}, options, now })).toThrow(/expiresAt of publish\(\) is/)
})
