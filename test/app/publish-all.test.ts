import { expect, test } from 'vitest'
import { z } from 'zod'
import type { OutgoingMessage, PublishResult } from '../../src/driver.ts'
import { justonce, messages } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'
import { later, note, openApp, write } from './open-app.ts'

/** A transport that answers as the test says, and remembers each call. */
function answering(answer: (message: OutgoingMessage) => PublishResult, name = 'memory') {
  const calls: string[][] = []
  const publish = async (given: readonly OutgoingMessage[]) => {
    calls.push(given.map(({ id }) => id))
    return given.map(answer)
  }
  return { calls, transport: { ...memoryTransport({ name }), publish } }
}

const tagged = (id: string, body: unknown = {}) => ({ type: 'note.tagged', body, id })

test('app.publishAll without tx: one call for each destination, and the ids in the order given', async () => {
  const sent = () => ({ kind: 'sent' }) as const
  const [events, audit] = [answering(sent, 'events'), answering(sent, 'audit')]
  const to = { events: events.transport, audit: audit.transport }
  const app = justonce({ store: memoryStore(), to, routes: { '*': 'events', 'note.removed': 'audit' } })
  const ids = await app.publishAll([tagged('a'), { type: 'note.removed', body: {}, id: 'b' }, tagged('c')])
  expect(ids).toEqual(['a', 'b', 'c'])
  expect([events.calls, audit.calls]).toEqual([[['a', 'c']], [['b']]])
  expect(await app.publishAll([])).toEqual([])
  expect(events.calls).toHaveLength(1)
})

test('what a broker refuses of many is named, with what was not sent because of it', async () => {
  const refusal = new Error('too large')
  const { transport } = answering(({ id }) => {
    if (id === 'b') return { kind: 'refused', error: refusal }
    return { kind: id === 'c' ? 'held' : 'sent' }
  })
  const later = answering(() => ({ kind: 'sent' }), 'later')
  const to = { events: transport, later: later.transport }
  const app = justonce({ store: memoryStore(), to, routes: { '*': 'events', 'note.removed': 'later' } })
  const publishing = app.publishAll([
    tagged('a'),
    tagged('b'),
    tagged('c'),
    { type: 'note.removed', body: {}, id: 'd' },
  ])
  await expect(publishing).rejects.toMatchObject({
    code: 'PUBLISH_REFUSED',
    cause: refusal,
    message: expect.stringContaining('events refused message b of type note.tagged. 3 messages were not sent.'),
    details: { unsent: ['b', 'c', 'd'] },
  })
  expect(later.calls).toEqual([])
})

test.each([
  ['a body that does not fit its schema', tagged('x', { tag: 7 }), 'PUBLISH_INVALID'],
  ['a type without a route', { type: 'other', body: {} }, 'ROUTE_UNKNOWN'],
  ['a body that JSON cannot hold', tagged('x', () => {}), 'OPTION_INVALID'],
  ['an unknown option', { ...tagged('x', { tag: 'y' }), keys: 'k' }, 'OPTION_UNKNOWN'],
  ['something that is no message', 'note.tagged', 'OPTION_INVALID'],
])('nothing is sent or stored if one of many has %s', async (_, wrong, code) => {
  const { calls, transport } = answering(() => ({ kind: 'sent' }))
  const store = memoryStore()
  const schemas = messages({ 'note.tagged': z.object({ tag: z.string() }) })
  const app = justonce({ store, to: { memory: transport }, routes: { 'note.*': 'memory' }, messages: schemas })
  const many = [tagged('a', { tag: 'x' }), wrong, tagged('c', { tag: 'x' })] as never
  await expect(app.publishAll(many)).rejects.toMatchObject({ code })
  expect(calls).toEqual([])
  await store.transaction(async (tx) => {
    await expect(app.publishAll(many, { tx })).rejects.toMatchObject({ code })
  })
  expect(await store.queue.count('>memory')).toMatchObject({ ready: 0 })
})

test('app.publishAll refuses the arguments of publish, and a tx that is not open', async () => {
  const store = memoryStore()
  const app = justonce({ store, to: memoryTransport() })
  await expect(app.publishAll('note.tagged' as never)).rejects.toThrow(
    'publishAll() wants a list of messages such as { type, body, key }, not string.',
  )
  await expect(app.publishAll([tagged('a')], { key: 'k' } as never)).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' })
  const left = await store.transaction(async (tx) => tx)
  await expect(app.publishAll([tagged('a')], { tx: left })).rejects.toMatchObject({ code: 'TX_CLOSED' })
})

test('publishAll of a handler: its messages leave in order, with those around it, and only if the handler succeeds', async () => {
  const { app, handle, transport, effects } = openApp()
  app.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx, publish, publishAll }) => {
    write(tx, id)
    void publish('note.tagged', {}, { id: `${id}-1`, key: id })
    const many = [2, 3].map((number) => ({ ...tagged(`${id}-${number}`), key: id }))
    expect(await publishAll(many)).toEqual([`${id}-2`, `${id}-3`])
    if (id === 'm2') await publishAll([tagged('fine'), tagged('wrong', () => {})]).catch(() => {})
  })
  app.on('note.tagged', 'count', () => {})
  await handle(note('m1'), note('m2'))
  expect(effects()).toEqual({ m1: 1 })
  const left = transport.settled().filter(({ type }) => type === 'note.tagged')
  expect(left.map(({ id }) => id)).toEqual(['m1-1', 'm1-2', 'm1-3'])
})
