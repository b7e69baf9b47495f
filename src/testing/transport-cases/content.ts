import assert from 'node:assert/strict'
import { outgoing, startReading } from '../reading.ts'
import type { TransportCase } from '../transport-case.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, index) => 255 - index)

const bodies: readonly (readonly [name: string, body: Uint8Array])[] = [
  ['every byte', everyByte],
  ['nothing', new Uint8Array()],
  ['NULs', Uint8Array.of(0, 0, 0)],
  ['a view into a larger buffer', everyByte.subarray(100, 110)],
  ['300,000 bytes', new Uint8Array(300_000).fill(0xa5)],
]

// Pairs, because `__proto__` in an object literal is not a property.
const headers: readonly (readonly [name: string, value: string])[] = [
  ['plain', 'value'],
  ['empty', ''],
  ['__proto__', 'not a prototype'],
  ['constructor', 'not a function'],
  ['unicode', 'grüße, 世界, 🦆'],
  ['trace-parent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['with space', ' edges '],
]

export const contentCases: readonly TransportCase[] = [
  ...bodies.map(
    ([name, body]): TransportCase => ({
      name: `content: the body arrives byte for byte: ${name}`,
      async run(context) {
        const transport = await context.connect()
        await transport.publish([outgoing('m1', { body })])
        const [delivery] = await startReading(context, transport).take(1)
        assert.ok(delivery?.message.body instanceof Uint8Array)
        assert.ok(Buffer.from(body).equals(delivery.message.body), 'the bytes differ')
      },
    }),
  ),
  {
    name: 'content: headers arrive as they were, with odd names and values',
    async run(context) {
      const transport = await context.connect()
      await transport.publish([outgoing('m1', { headers: Object.fromEntries(headers) })])
      const [delivery] = await startReading(context, transport).take(1)
      for (const [name, value] of headers) {
        const arrived = Object.getOwnPropertyDescriptor(delivery?.message.headers ?? {}, name)
        assert.equal(arrived?.value, value, `header '${name}'`)
      }
    },
  },
  {
    name: 'content: id, type, key and time arrive as they were, and the source is named',
    async run(context) {
      const transport = await context.connect()
      const sentAt = new Date('2031-02-03T04:05:06Z')
      await transport.publish([outgoing('ü-1', { type: 'note.created', key: 'clé 鍵', sentAt })])
      const [delivery] = await startReading(context, transport).take(1)
      const { id, type, key, source } = delivery?.message ?? {}
      assert.deepEqual({ id, type, key }, { id: 'ü-1', type: 'note.created', key: 'clé 鍵' })
      assert.equal(delivery?.message.sentAt?.getTime(), sentAt.getTime())
      assert.ok(source !== undefined && source !== '', 'the source is missing')
    },
  },
  {
    name: 'content: the expiry of a message arrives, and only if it has one',
    async run(context) {
      const transport = await context.connect()
      const expiresAt = new Date('2031-02-03T04:05:06Z')
      await transport.publish([outgoing('m1', { expiresAt }), outgoing('m2')])
      const taken = await startReading(context, transport).take(2)
      const expiryOf = new Map(taken.map(({ message }) => [message.id, message.expiresAt?.getTime()]))
      assert.equal(expiryOf.get('m1'), expiresAt.getTime())
      assert.equal(expiryOf.get('m2'), undefined)
    },
  },
  {
    name: 'content: a message without a key arrives without one',
    async run(context) {
      const transport = await context.connect()
      await transport.publish([outgoing('m1')])
      const [delivery] = await startReading(context, transport).take(1)
      assert.equal(delivery?.message.key, undefined)
    },
  },
]
