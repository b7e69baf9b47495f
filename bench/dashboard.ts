import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { NewParkedMessage, Store } from '../src/contracts/index.ts'
import { dashboard } from '../src/dashboard/index.ts'
import { packMessage } from '../src/encoding/packed-message.ts'
import { operations } from '../src/operations/index.ts'
import { postgresStore } from '../src/stores/postgres/index.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { startPostgres } from '../test/servers/postgres.ts'
import type { BenchOptions, Lines, Suite } from './suite.ts'

/** What the pages of the dashboard ask, with the addresses that they ask. `last` is the place of the last dead letter. */
const questions: readonly (readonly [name: string, path: (last: number) => string])[] = [
  ['overview, an hour', () => 'overview?minutes=60'],
  ['dead letters by cause', () => 'letters/groups'],
  ['first page', () => 'letters?limit=50'],
  ['a page near the end', (last) => `letters?limit=50&after=${last - 100}`],
  ['first page of a handler', () => 'letters?limit=50&handler=handler-3'],
  ['first page with a text of the error', () => 'letters?limit=50&errorText=shape%207'],
  ['a text that no error has', () => 'letters?limit=50&errorText=nowhere'],
  ['story of a message', () => 'messages/story?id=message-777777'],
  ['search by id', () => 'messages?limit=50&id=message-777777'],
  ['handlers', () => 'handlers'],
]

export const dashboardSuite: Suite = {
  name: 'dashboard',
  about: 'how long the answers of the dashboard take beside many dead letters',
  defaults: { rounds: 5, messages: 1_000_000 },
  quick: { rounds: 1, messages: 2_000 },

  async run({ rounds, messages }, say) {
    const measured = [
      ['SQLite', await onSqlite((store) => measure(store, { rounds, messages }, say))],
      ['Postgres', await onPostgres((store) => measure(store, { rounds, messages }, say))],
    ] as const
    const lines: Lines = [
      ['question', ...measured.map(([name]) => `${name}, ms`)],
      ...questions.map(([name], place) => [name, ...measured.map(([, times]) => (times[place] ?? 0).toFixed(1))]),
    ]
    return { rows: [], tables: [{ title: `Median answers beside ${messages} dead letters`, lines }] }
  },
}

async function onSqlite<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-bench-'))
  const store = sqliteStore({ path: join(folder, 'bench.db') })
  try {
    return await work(store as unknown as Store)
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function onPostgres<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const server = await startPostgres()
  const pool = new pg.Pool({ connectionString: server.url })
  try {
    const store = postgresStore({ pool, listen: false })
    const measured = await work(store as unknown as Store)
    await store.close()
    return measured
  } finally {
    await pool.end()
    await server.stop()
  }
}

async function measure(
  store: Store,
  { rounds, messages }: BenchOptions,
  say: (line: string) => void,
): Promise<number[]> {
  await store.schema.install()
  for (let at = 0; at < messages; at += 5_000) {
    const rows = Array.from({ length: Math.min(5_000, messages - at) }, (_, place) => deadLetter(at + place))
    await store.transaction((tx) => store.parking.park(tx, rows))
    if (at % 100_000 === 0) say(`${store.name}: ${at} dead letters`)
  }
  const [lastRow] = await store.parking.list({ messageId: `message-${messages - 1}` }, { limit: 1 })
  const medians: number[] = []
  for (const [name, path] of questions) {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) times.push(await timeOf(store, path(lastRow?.sequence ?? 0)))
    const median = times.sort((a, b) => a - b)[Math.floor(rounds / 2)] as number
    say(`${store.name}: ${name}: ${median.toFixed(1)} ms`)
    medians.push(median)
  }
  return medians
}

/** Through a dashboard of its own each time: no answer is shared. */
async function timeOf(store: Store, path: string): Promise<number> {
  const { handle } = dashboard(operations(store), { access: () => ({ may: ['read', 'bodies', 'operate'] }) })
  const begun = performance.now()
  const answer = await handle(new Request(`http://localhost/api/${path}`))
  await answer.text()
  if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}.`)
  return performance.now() - begun
}

const body = new TextEncoder().encode(JSON.stringify({ order: 'order-1', note: 'x'.repeat(150) }))

function deadLetter(number: number): NewParkedMessage {
  const messageId = `message-${number}`
  const shape = `Error: shape ${number % 40}`
  return {
    handler: `handler-${number % 10}`,
    key: messageId,
    messageId,
    type: `type-${number % 10}`,
    source: 'orders',
    message: packMessage({
      id: messageId,
      type: `type-${number % 10}`,
      body,
      headers: { trace: 'abc' },
      source: 'orders',
    }),
    state: 'dead',
    attempts: 5,
    step: 0,
    independent: false,
    orderKey: undefined,
    delayMs: 0,
    reason: 'HANDLER_FAILED',
    errors: JSON.stringify([{ at: 1_790_000_000_000, message: `${shape}: in order ${number}` }]),
    shape,
  }
}
