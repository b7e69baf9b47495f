import { expect, onTestFinished, test } from 'vitest'
import { dashboard, type Permission } from '../../src/dashboard/index.ts'
import { routes } from '../../src/dashboard/routes.ts'
import { justonce } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { openDashboard } from './fixture.ts'

const secret = 'body-that-only-some-may-see'

test('nothing that can be asked shows a body to somebody who may not see bodies, also after it was edited', async () => {
  let may: readonly Permission[] = ['read', 'bodies', 'operate']
  const { get, post, app } = await openDashboard({ access: () => ({ by: 'ana', may }) })
  const selection = { handler: 'invoice', key: 'o1' }
  const ended = Promise.withResolvers<void>()
  app.events.listen(({ kind }) => kind === 'redrive-ended' && ended.resolve())
  const answer = await post('api/letters/redrive', { selection, body: { amount: 31, note: secret }, why: 'test' })
  expect(answer.status).toBe(200)
  const { id } = (await answer.json()) as { id: string }
  await ended.promise
  await post('api/letters/annotate', { group: { handler: 'invoice', reason: 'HANDLER_FAILED', shape: '' }, note: 'n' })
  const query = `?handler=invoice&key=o1&id=${id}&effect=x&minutes=5`
  const asked = routes.filter(({ method }) => method === 'GET').map(({ path }) => `${path}${query}`)
  const all = [...asked, 'api/letters', 'api/messages', 'api/messages/story?id=o1', 'api/audit', 'api/redrives']
  const seen = async () => await Promise.all(all.map(async (path) => [path, await (await get(path)).text()] as const))
  const shown = (await seen()).filter(([, text]) => text.includes(secret)).map(([path]) => path)
  expect(shown).toContain('api/messages/story?id=o1')
  may = ['read', 'operate']
  for (const [path, text] of await seen()) {
    expect([path, text.includes(secret)]).toEqual([path, false])
    expect([path, text.includes('4111')]).toEqual([path, false])
  }
  // Nor does it answer questions about what is in one.
  const guess = await post('api/letters/redrive', { selection, body: { amount: 1 } })
  expect(guess.status).toBe(403)
})

test('nor does anything that shows messages on their way out, whatever published them', async () => {
  const transport = memoryTransport()
  const away = { destination: 'events', publish: () => Promise.reject(new Error('away')), async close() {} }
  const store = memoryStore()
  const app = justonce({ store, from: transport, to: { events: away }, log: false })
  onTestFinished(() => app.stop())
  app.on('order.paid', 'invoice', async (_, { publish }) => {
    await publish('invoice.sent', { note: secret }, { id: 'i1', headers: { authorization: secret } })
    await publish('invoice.due', { note: secret }, { id: 'i2', delayMs: 3_600_000 })
  })
  await app.start()
  transport.send([{ id: 'o1', type: 'order.paid', body: {} }])
  await transport.idle()
  const queued = { id: 'q1', type: 'order.paid', headers: { cookie: secret }, key: undefined, sentAt: new Date() }
  await queueTransport({ store, queue: 'orders' }).publish([
    { ...queued, body: new TextEncoder().encode(`"${secret}"`) },
  ])
  let may: readonly Permission[] = ['read', 'bodies']
  const { handle } = dashboard(app.operations, { access: () => ({ by: 'ana', may }) })
  const paths = [
    'messages/story?id=o1',
    'messages/story?id=i1',
    'messages/story?id=i2',
    'outgoing/waiting?destination=events',
    'outgoing/delayed',
    'messages?state=outgoing',
    'messages/story?id=q1',
    'messages?state=queued',
    'messages/queued?queue=orders',
  ]
  const seen = async () =>
    await Promise.all(
      paths.map(async (path) => await (await handle(new Request(`http://localhost/api/${path}`))).text()),
    )
  const [ofCause, ofItself, , waiting, , , ofQueued, found, listed] = await seen()
  expect(ofQueued).toContain(secret)
  for (const queued of [found, listed]) expect(queued).toContain('q1')
  expect(ofCause).toContain('i1')
  expect(waiting).toContain('invoice.sent')
  expect(ofItself).toContain(secret)
  may = ['read']
  for (const [place, text] of (await seen()).entries())
    expect([paths[place], text.includes(secret)]).toEqual([paths[place], false])
})
