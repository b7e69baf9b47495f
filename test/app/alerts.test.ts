import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type AlertOptions, type JustonceEvent, justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'

const dead = { when: 'dead-letters', over: 0 } as const

/** An app on the given store that has one dead letter, and what it says. */
async function startFailing(alerts: readonly AlertOptions[]) {
  const transport = memoryTransport()
  const app = justonce({ name: 'notes', store: memoryStore(), transport, alerts, pollMs: 10 })
  const events: JustonceEvent[] = []
  const alerted = Promise.withResolvers<void>()
  app.events.listen((event) => {
    events.push(event)
    if (event.kind === 'alert') alerted.resolve()
  })
  app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, () => Promise.reject(new Error('no')))
  onTestFinished(() => app.stop())
  await app.deliver({ id: 'm1', type: 'note.created', body: {} })
  await app.start()
  await alerted.promise
  return { app, events }
}

test('a webhook gets the notice once, with an idempotency key', async () => {
  const got: { readonly key: unknown; readonly token: unknown; readonly notice: Record<string, unknown> }[] = []
  const arrived = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += String(chunk)
    })
    request.on('end', () => {
      const { 'idempotency-key': key, 'x-token': token } = request.headers
      got.push({ key, token, notice: JSON.parse(text) })
      // The first request fails: it is sent again, as the same one.
      response.statusCode = got.length === 1 ? 500 : 204
      response.end()
      if (got.length === 2) arrived.resolve()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const webhook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`
  const { app, events } = await startFailing([{ ...dead, notify: { webhook, headers: { 'x-token': 'secret' } } }])
  await arrived.promise
  await app.stop()
  expect(got).toHaveLength(2)
  expect(new Set(got.map(({ key }) => key)).size).toBe(1)
  expect(got[0]).toMatchObject({
    token: 'secret',
    notice: { state: 'firing', rule: 'dead-letters', app: 'notes', value: 1, over: 0 },
  })
  expect(events.filter(({ kind }) => kind === 'alert')).toMatchObject([{ state: 'firing', rule: 'dead-letters' }])
})

test('log is an event, and says everything in one line', async () => {
  const { events } = await startFailing([{ ...dead, name: 'dead', notify: 'log' }])
  const [alert] = events.filter((event) => event.kind === 'alert')
  expect(alert).toMatchObject({ kind: 'alert', rule: 'dead', state: 'firing', value: 1 })
  expect(alert?.text).toMatch(/^dead of notes is firing: 1, limit 0 \(how many dead letters there are\), since 20/)
})

test.each<[string, unknown]>([
  ['a list', { ...dead, notify: 'log' }],
  ['dead-letters', [{ when: 'dead-leters', over: 1, notify: 'log' }]],
  ['over', [{ when: 'dead-letters', notify: 'log' }]],
  ['share', [{ when: 'failure-rate', over: 50, notify: 'log' }]],
  ['notify', [{ ...dead, notify: 'email' }]],
  ['URL', [{ ...dead, notify: { webhook: 'nowhere' } }]],
  [
    'another name',
    [
      { ...dead, notify: 'log' },
      { ...dead, notify: 'log' },
    ],
  ],
  ['printable', [{ ...dead, name: 'a\nb', notify: 'log' }]],
])('a rule that makes no sense is refused: %s', (said, alerts) => {
  expect(() => justonce({ store: memoryStore(), alerts: alerts as never })).toThrow(said)
})
