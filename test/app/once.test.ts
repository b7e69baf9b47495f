import { expect, test } from 'vitest'
import type { OutgoingMessage } from '../../src/driver.ts'
import type { Publisher } from '../../src/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { openApp, write } from './open-app.ts'

const charge = { handler: 'charge', key: 'evt-1' }

/** An app that only publishes, and what it has sent. */
function openPublishingApp(options: object = {}) {
  const sent: OutgoingMessage[] = []
  const to: Publisher = {
    destination: 'events',
    async publish(messages) {
      sent.push(...messages)
      return messages.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  return { ...openApp({ to, ...options }), sent }
}

test('app.once publishes with its commit, once', async () => {
  const { app, database, clock, sent } = openPublishingApp()
  await app.start()
  const call = () =>
    app.once(charge, async (tx, { publish }) => {
      write(tx, 'charged')
      return await publish('receipt.wanted', { charge: 'evt-1' })
    })
  const first = await call()
  const second = await call()
  await clock.advance(0)
  expect(first).toMatchObject({ status: 'processed' })
  expect(second).toMatchObject({ status: 'duplicate', value: 'value' in first ? first.value : 'none' })
  expect(sent.map(({ id, type }) => ({ id, type }))).toEqual([
    { id: 'value' in first ? first.value : 'none', type: 'receipt.wanted' },
  ])
  expect(database.committedValue('charged')).toBe(1)
})

test('what app.once published leaves with nobody when the work fails', async () => {
  const { app, clock, store, sent } = openPublishingApp()
  await app.start()
  const failing = app.once(charge, async (_, { publish }) => {
    await publish('receipt.wanted', {})
    throw new Error('declined')
  })
  await expect(failing).rejects.toThrow('declined')
  await clock.advance(5_000)
  expect(sent).toEqual([])
  expect(await recordOf(store, charge)).toBeUndefined()
})

test('a message without a route fails the work, also if nobody looks', async () => {
  const { app, database } = openPublishingApp({ routes: {} })
  const failing = app.once(charge, (tx, { publish }) => {
    write(tx, 'charged')
    publish('receipt.wanted', {}).catch(() => {})
  })
  await expect(failing).rejects.toMatchObject({ code: 'ROUTE_UNKNOWN' })
  expect(database.committedValue('charged')).toBeUndefined()
})

test('the time of app.once is that of the app, and its listeners get late calls', async () => {
  const { app, clock, events } = openPublishingApp()
  let publishLate: (() => Promise<string>) | undefined
  const begun = Promise.withResolvers<void>()
  const endless = app.once({ ...charge, timeoutMs: 500 }, (_, { publish }) => {
    publishLate = () => publish('receipt.wanted', {})
    begun.resolve()
    return new Promise(() => {})
  })
  const refused = expect(endless).rejects.toMatchObject({ code: 'HANDLER_TIMEOUT' })
  await begun.promise
  await clock.advance(500)
  await refused
  await expect(publishLate?.()).rejects.toMatchObject({ code: 'TX_CLOSED' })
  expect(events).toMatchObject([{ kind: 'late-call', handler: 'charge' }])
})
