import { expect, onTestFinished, test } from 'vitest'
import { dashboard } from '../../src/dashboard/index.ts'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { operations } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { prometheusText } from '../../src/metrics/index.ts'
import { refusedLetter } from '../../src/outgoing/refused-letter.ts'
import { all, asking } from './fixture.ts'

/** A store with what two destinations have refused for good, and a message that reached no handler. */
async function storeWithRefused() {
  const store = memoryStore()
  onTestFinished(() => store.close())
  await store.schema.install()
  const refused = [...['m1', 'm2', 'm3'].map((id) => ['events', id] as const), ['audit log', 'm4'] as const]
  const letters = refused.map(([destination, id]) => {
    const message = { id, type: 'note.tagged', key: undefined, body: Uint8Array.of(1), headers: {}, sentAt: new Date() }
    const queued = { ticket: '1', deliveries: 10, message: toQueue(message).message }
    return refusedLetter({ queue: `>${destination}` }, queued, message, new Error('too large'), new Date())
  })
  const [first] = letters
  if (first === undefined) throw new Error('there is one')
  const unhandled = { ...first, handler: '-', key: 'm5', messageId: 'm5', reason: 'TYPE_UNKNOWN' }
  await store.transaction((tx) => store.parking.park(tx, [...letters, unhandled]))
  return store
}

test('what destinations have refused for good is counted, and can be sent again', async () => {
  const { handle } = dashboard(operations(await storeWithRefused()), { access: () => ({ by: 'ana', ...all }) })
  const { get } = asking(handle)
  expect(await (await get('api/outgoing')).json()).toEqual({
    waiting: {},
    refused: [
      { name: '>events', dead: 3 },
      { name: '>audit log', dead: 1 },
    ],
  })
  const listed = (await (await get(`api/letters?handler=${encodeURIComponent('>events')}`)).json()) as unknown[]
  expect(listed).toHaveLength(3)
})

test('dead letters without a handler are counted by the metrics, so that an alert hears of them', async () => {
  const text = await prometheusText(await storeWithRefused())
  expect(text).toContain('justonce_dead_letters{handler=">events"} 3\n')
  expect(text).toContain('justonce_dead_letters{handler=">audit log"} 1\n')
  expect(text).toContain('justonce_dead_letters{handler="-"} 1\n')
})
