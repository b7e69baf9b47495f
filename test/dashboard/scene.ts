import { serveDashboard } from '../../src/dashboard/index.ts'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { justonce, messages, none, type Participant, PermanentError, uuidv7 } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'

interface Order {
  readonly order: string
  readonly amount: number
  readonly country: string
}

/** What messages bring that would like to be HTML. */
export const markup = '<script>document.title="broken"</script><img src=x onerror="document.title=1">'

/** A shop on a bad day, with something to see on every page of the dashboard. */
export async function openScene() {
  const store = memoryStore()
  const transport = memoryTransport()
  const app = justonce({
    name: 'shop',
    store,
    transport,
    log: false,
    pollMs: 20,
    alerts: [{ when: 'dead-letters', over: 0, notify: () => {} }],
    messages: messages<{ 'order.paid': Order; 'order.placed': Order; 'report.due': object }>(),
  })
  let hasStock = false
  app.on('order.placed', 'reserve-stock', async ({ body }, { intend }) => {
    if (body.country === 'xx') await intend('courier.book', { order: body.order }, { key: body.order })
    if (body.country === 'yy') await intend('reserve-order', { order: body.order }, { key: body.order })
  })
  app.on('order.paid', { name: 'write-invoice', retry: { backoff: none }, breaker: false }, ({ id, body }) => {
    if (body.country === '??') throw new PermanentError(`Unknown country "${body.country}" of ${id}`)
    if (!hasStock && body.amount > 90) throw new PermanentError(`No stock for ${body.order}`)
  })
  app.on(
    'order.paid',
    { name: 'notify-warehouse', independent: true, retry: { attempts: 9, backoff: () => 3_600_000 }, breaker: false },
    ({ body }) => {
      if (body.amount % 25 === 0) throw new Error(`connect ECONNREFUSED warehouse:8443 (${body.order})`)
    },
  )
  app.on('report.due', 'send-report', () => {})
  app.effect('courier.book', {
    run() {
      throw new Error('socket hang up')
    },
  })
  const credit: Participant = { try() {}, confirm() {}, cancel() {} }
  const away = () => Promise.reject(new Error('connect ECONNREFUSED stock:5432'))
  app.reservation('reserve-order', { participants: { stock: { ...credit, try: away }, credit }, timeoutMs: 3_600_000 })
  app.schedule('nightly-report', { cron: '0 3 * * *', timeZone: 'UTC', type: 'report.due', body: {} })
  await app.start()
  const paid = Array.from({ length: 120 }, (_, n) => ({
    id: n === 7 ? `order-7-paid ${markup}` : uuidv7(),
    type: 'order.paid' as const,
    body: { order: `order-${n}`, amount: n, country: n % 40 === 39 ? '??' : 'de' },
    headers: { traceparent: '00-4bf92f', authorization: 'Bearer abc', ...(n === 7 && { 'x-note': markup }) },
  }))
  const placed = (['order-a', 'order-b', 'order-r'] as const).map((order) => ({
    id: uuidv7(),
    type: 'order.placed' as const,
    body: { order, amount: 5, country: order === 'order-r' ? 'yy' : 'xx' },
  }))
  transport.send([...paid, ...placed])
  await transport.idle()
  // Copies, as brokers and producers send them.
  transport.send(paid.slice(0, 12))
  await transport.idle()
  await app.publish('order.placed', { order: 'order-later', amount: 1, country: 'de' }, { delayMs: 7_200_000 })
  const imported = { type: 'order.imported', key: undefined, body: Uint8Array.of(1), headers: {}, sentAt: new Date() }
  await store.queue.send(
    undefined,
    'imports',
    Array.from({ length: 60 }, (_, n) => toQueue({ ...imported, id: `import-${n}` })),
  )
  const server = await serveDashboard(app.operations, { port: 0, by: 'ana' })
  return {
    app,
    url: server.url,
    paid,
    restock() {
      hasStock = true
    },
    async close() {
      await server.close()
      await app.stop()
      await store.close()
    },
  }
}
