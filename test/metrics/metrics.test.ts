import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { dashboard } from '../../src/dashboard/index.ts'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { countEvent } from '../../src/metrics/count-event.ts'
import { processMetrics, storeMetrics } from '../../src/metrics/definitions.ts'
import { countEvents, prometheusContentType, prometheusText } from '../../src/metrics/index.ts'
import { MetricSet } from '../../src/metrics/metric-set.ts'
import { Samples } from '../../src/metrics/samples.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'

const names = [...Object.keys(processMetrics), ...Object.keys(storeMetrics)]
const labelNames = Object.values({ ...processMetrics, ...storeMetrics }).flatMap(({ labels }) => [...labels])
/** One line of the text format: a comment, or a name, labels whose values are quoted, and a number. */
const line =
  /^(?:# (?:HELP|TYPE) \w+ .+|[a-z_]+(?:\{\w+="(?:[^"\\\n]|\\["\\n])*"(?:,\w+="(?:[^"\\\n]|\\["\\n])*")*\})? -?[\d.e+-]+|)$/

test('what an app does is counted, and what its store holds is shown', async () => {
  const transport = memoryTransport()
  const app = justonce({ store: memoryStore(), transport, log: false })
  app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, ({ id }) => {
    if (id === 'bad') throw new Error('no')
  })
  countEvents(app)
  onTestFinished(() => app.stop())
  await app.start()
  for (const id of ['m1', 'm2', 'm1', 'bad']) {
    transport.send([{ id, type: 'note.created', body: {} }])
    await transport.idle()
  }
  const text = await prometheusText(app)
  for (const each of text.split('\n')) expect(each).toMatch(line)
  expect(text).toContain('justonce_processed_total{handler="tag-note"} 2\n')
  expect(text).toContain('justonce_duplicates_total{handler="tag-note",known="here"} 1\n')
  expect(text).toContain('justonce_failures_total{handler="tag-note"} 1\n')
  expect(text).toContain('justonce_dead_letters{handler="tag-note"} 1\n')
  expect(text).toContain('justonce_processes 1\n')
  for (const name of names) expect(text).toContain(`# TYPE ${name} `)
  const token = 'a-token-that-is-long-enough-to-be-one'
  const { handle } = dashboard(app.operations, { token })
  const ask = (headers: Record<string, string>) => handle(new Request('http://localhost/metrics', { headers }))
  expect((await ask({})).status).toBe(401)
  const answer = await ask({ authorization: `Bearer ${token}` })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, prometheusContentType])
  expect(await answer.text()).toContain('justonce_dead_letters{handler="tag-note"} 1\n')
  const ofStore = await prometheusText(app.store)
  expect(ofStore).toContain('justonce_dead_letters{handler="tag-note"} 1\n')
  expect(ofStore).not.toContain('_total')
})

test('how long a message has waited for another attempt is shown', async () => {
  const transport = memoryTransport()
  const clock = fakeClock({ start: new Date('2020-01-01T00:00:00Z') })
  const app = justonce({ store: memoryStore({ clock }), transport, clock, log: false })
  app.on('note.created', { name: 'tag-note', retry: { backoff: () => 3_600_000 } }, () => {
    throw new Error('no')
  })
  onTestFinished(() => app.stop())
  await app.start()
  expect(await prometheusText(app)).toContain('justonce_waiting_oldest_seconds 0\n')
  transport.send([{ id: 'm1', type: 'note.created', body: {} }])
  await transport.idle()
  const since = clock.now()
  expect(await app.operations.overview({ minutes: 0 })).toMatchObject({ parked: { waitingSince: since } })
  // By the clock of the machine, which is long past that of the test.
  expect(await prometheusText(app)).toMatch(/justonce_waiting_oldest_seconds [1-9]\d*/)
})

test('labels stay bounded and the text stays readable, whatever names and messages bring', () => {
  const counters = new MetricSet(processMetrics)
  const heard = (event: JustonceEvent): void => countEvent(event, (...counted) => counters.add(...counted))
  const hostile = ['a"} 1\nfake_metric 9', 'back\\slash', 'line\r\nbreak\u2028\u0000', '\ud800', 'x'.repeat(10_000)]
  const about = { key: 'k', messageId: 'm', source: 's', redelivered: false } as const
  for (const handler of hostile) heard({ kind: 'processed', handler, key: 'k', type: 't' })
  for (let number = 0; number < 10_000; number++) {
    heard({ kind: 'processed', handler: `h${number}`, key: 'k', type: `type ${number}` })
    heard({ kind: 'duplicate', handler: 'one', type: `type ${number}`, from: 'store', ...about })
  }
  const lines = counters.text().split('\n')
  for (const each of lines) expect(each).toMatch(line)
  const processed = lines.filter((each) => each.startsWith('justonce_processed_total{'))
  expect(processed).toHaveLength(101)
  expect(processed.at(-1)).toBe('justonce_processed_total{handler="other"} 9905')
  expect(lines.some((each) => each.startsWith('fake_metric'))).toBe(false)
  expect(Math.max(...lines.map((each) => each.length))).toBeLessThan(400)
  expect(lines.filter((each) => each.includes('type '))).toEqual([])
})

test('of handlers without a label of their own, the slowest is shown: a sum of quantiles says nothing', () => {
  const slow = new Samples(storeMetrics.justonce_handler_seconds)
  const dead = new Samples(storeMetrics.justonce_dead_letters)
  for (let number = 0; number < 103; number++) {
    slow.add([`h${number}`, '0.99'], number)
    dead.add([`h${number}`], number)
  }
  expect(slow.all().at(-1)).toEqual({ labels: ['other', '0.99'], value: 102 })
  expect(dead.all().at(-1)).toEqual({ labels: ['other'], value: 100 + 101 + 102 })
})

test.each([
  ['docs/operations/grafana-dashboard.json', /"expr": (".*")/g],
  ['docs/operations/prometheus-alerts.yml', /expr: (.*)/g],
])('%s asks only for metrics and labels that exist', (path, pattern) => {
  const expressions = [...readFileSync(path, 'utf8').matchAll(pattern)].map(([, text = '']) => text)
  expect(expressions.length).toBeGreaterThan(5)
  for (const expression of expressions) {
    const asked = expression.match(/justonce_\w+/g) ?? []
    expect(asked.length, expression).toBeGreaterThan(0)
    for (const name of asked) expect(names).toContain(name)
    for (const [, label = ''] of expression.matchAll(/by \((\w+)\)/g)) expect(labelNames).toContain(label)
  }
})

test('every alert of Prometheus and every condition of alerts leads to a section of the runbook', () => {
  const runbook = readFileSync('docs/operations/runbook.md', 'utf8')
  const anchors = [...runbook.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(' ', '-'),
  )
  const texts = ['docs/operations/prometheus-alerts.yml', 'docs/operations/monitoring.md'].map((path) =>
    readFileSync(path, 'utf8'),
  )
  const asked = texts.flatMap((text) => [...text.matchAll(/runbook\.md#([\w-]+)/g)].map(([, anchor]) => anchor))
  expect(asked.length).toBeGreaterThan(10)
  for (const anchor of asked) expect(anchors).toContain(anchor)
})

test('an alert that fires in two apps is 1, as it is in one', () => {
  const set = new MetricSet(storeMetrics)
  for (const _ of ['shop', 'bank']) set.add('justonce_alerts_firing', 1, 'dead-letters')
  expect(set.text()).toContain('justonce_alerts_firing{rule="dead-letters"} 1\n')
})
