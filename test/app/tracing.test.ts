import { expect, test } from 'vitest'
import { DidNotHappen } from '../../src/index.ts'
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

test('what a handler intends belongs to the trace of its message, in every attempt, when the provider is asked and in the message about its outcome', async () => {
  const { app, handle, clock, quiet } = openApp()
  const seen: unknown[] = []
  app.effect('email.welcome', {
    retry: { backoff: () => 1 },
    settleMs: 0,
    run(_, { attempt, trace }) {
      seen.push(['run', attempt, trace])
      if (attempt === 1) throw new DidNotHappen('not yet')
      throw new Error('nobody knows')
    },
    probe(_, { trace }) {
      seen.push(['probe', trace])
      return { status: 'happened' }
    },
  })
  app.on('note.created', 'welcome', async (_, { intend }) => void (await intend('email.welcome', {})))
  app.on('intent.done:email.welcome', 'note-receipt', ({ headers }) => void seen.push(['done', headers]))
  await handle(note('m1', { headers: trace }))
  await clock.advance(60_000)
  await quiet()
  expect(seen).toEqual([
    ['run', 1, trace],
    ['run', 2, trace],
    ['probe', trace],
    ['done', trace],
  ])
})

test('a trace that is malformed or too long is not passed on: whoever sends a message may put anything there', async () => {
  const { app, handle, quiet } = openApp()
  const seen: unknown[] = []
  app.effect('email.welcome', { run: (_, given) => void seen.push(given.trace) })
  app.on('note.created', 'welcome', async (_, { intend, publish }) => {
    await intend('email.welcome', {})
    await publish('note.tagged', {})
  })
  app.on('note.tagged', 'count', ({ headers }) => void seen.push(headers))
  await handle(note('m1', { headers: { traceparent: 'x'.repeat(50_000) } }))
  await quiet()
  expect(seen).toEqual([{}, {}])
  seen.length = 0
  await handle(note('m2', { headers: { ...trace, tracestate: 'a='.repeat(5_000) } }))
  await quiet()
  expect(seen).toEqual([{ traceparent: trace.traceparent }, { traceparent: trace.traceparent }])
})

test('a duplicate says which trace its copy came with', async () => {
  const { app, handle, eventsOf } = openApp()
  app.on('note.created', 'tag', () => {})
  await handle(note('m1', { headers: trace }))
  await handle(note('m1', { headers: trace }))
  expect(eventsOf('duplicate')).toMatchObject([{ trace }])
})
