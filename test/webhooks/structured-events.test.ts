import { expect, test } from 'vitest'
import { byContent } from '../../src/index.ts'
import { charge, openHooks } from './open-hooks.ts'

const headers = { 'content-type': 'application/cloudevents+json' }

/** A structured CloudEvent, as text: its numbers are what the sender wrote. */
function event(id: string, order: string): string {
  return `{"specversion":"1.0","id":"${id}","type":"order.placed","source":"/shop","data":{"order":${order}}}`
}

async function openEvents() {
  const hooks = await openHooks({ verify: () => true })
  const send = async (id: string, order: string) => {
    return (await fetch(hooks.url, { method: 'POST', headers, body: event(id, order) })).status
  }
  return { ...hooks, send }
}

test('events that differ in a number too long for JavaScript are two messages, also by their content', async () => {
  const { app, charges, send } = await openEvents()
  app.on('order.placed', { name: 'charge', identify: byContent }, ({ id }, { tx }) => charge(tx, id))
  await app.start()
  const orders = { e1: '9007199254740993', e2: '9007199254740992', e3: '1e400', e4: 'null' }
  for (const [id, order] of Object.entries(orders)) expect(await send(id, order)).toBe(200)
  expect(await send('e5', '9007199254740993.0')).toBe(200)
  expect(charges()).toEqual({ e1: 1, e2: 1, e3: 1, e4: 1 })
})

test('of two such events with one id the second is a letter, not a duplicate', async () => {
  const { app, charges, events, send } = await openEvents()
  app.on('order.placed', 'charge', ({ id }, { tx }) => charge(tx, id))
  await app.start()
  for (const order of ['9007199254740993', '9007199254740992']) await send('e1', order)
  expect(charges()).toEqual({ e1: 1 })
  expect(events).toContainEqual(expect.objectContaining({ kind: 'parked', reason: 'KEY_REUSED' }))
})
