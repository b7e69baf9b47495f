import { expect, test } from 'vitest'
import { note, openApp } from './open-app.ts'

const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1' }

test('what a handler publishes belongs to the trace of its message, through the outbox to the next handler', async () => {
  const { app, handle, quiet } = openApp()
  const seen: unknown[] = []
  app.on('note.created', 'tag', async (_, { publish }) => {
    await publish('note.tagged', {}, { headers: { tenant: 'a' } })
    await publish('note.tagged', {}, { headers: { traceparent: 'own' } })
    await publish('note.tagged', {}, { delayMs: 1 })
  })
  app.on('note.tagged', 'count', ({ headers }) => void seen.push(headers))
  await handle(note('m1', { headers: trace }))
  await quiet()
  expect(seen).toContainEqual({ ...trace, tenant: 'a' })
  expect(seen).toContainEqual({ traceparent: 'own' })
})

test('without a trace, and for a batch, there is none', async () => {
  const { app, handle, quiet } = openApp()
  const seen: unknown[] = []
  app.on('note.created', 'tag', (_, { publish }) => publish('note.tagged', {}))
  app.onBatch('note.imported', 'tag-all', (_, { publish }) => publish('note.tagged', {}))
  app.on('note.tagged', 'count', ({ headers }) => void seen.push(headers))
  const imported = { type: 'note.imported', headers: trace }
  await handle(note('m1'), note('m2', imported), note('m3', imported))
  await quiet()
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.filter((headers) => Object.keys(headers as object).length > 0)).toEqual([])
})

test('whoever knows the trace that runs now is asked where it is published, and one that fails changes nothing', async () => {
  const running = { ...trace, traceparent: trace.traceparent.replace('b7ad', 'ffff') }
  let now: () => Record<string, string> = () => running
  const { app, handle, quiet } = openApp({ traceHeaders: () => now() })
  const seen: unknown[] = []
  app.on('note.created', 'tag', async (_, { publish }) => {
    await publish('note.tagged', {})
    await publish('note.tagged', {}, { headers: { traceparent: 'own' } })
  })
  app.on('note.tagged', 'count', ({ headers }) => void seen.push(headers.traceparent))
  await handle(note('m1', { headers: trace }))
  await app.publish('note.tagged', {})
  await quiet()
  expect(seen.toSorted()).toEqual([running.traceparent, running.traceparent, 'own'].toSorted())
  seen.length = 0
  now = () => {
    throw new Error('no tracer')
  }
  await handle(note('m2', { headers: trace }))
  await quiet()
  expect(seen).toContain(trace.traceparent)
})
