import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Pool } from 'pg'
import { httpEffect, justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Measured } from '../rounds.ts'
import { throwLater } from '../throw-later.ts'
import { emptyTables } from '../transfers/tables.ts'

const effect = 'email.receipt'
/** In a thread of its own: what the provider costs is not our cost. */
const server = `
const { createServer } = require('node:http')
const { parentPort } = require('node:worker_threads')
const keys = new Set()
const server = createServer((request, response) => {
  keys.add(request.headers['idempotency-key'])
  request.resume().once('end', () => response.end('{}'))
}).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
parentPort.on('message', () => parentPort.postMessage(keys.size))
`

/** Calls that wait in the database are made over HTTP, with a key, eight at once, by a process that does nothing else. */
export async function measureIntents({ pool }: { readonly pool: Pool }, calls: number): Promise<Measured> {
  await emptyTables(pool)
  await pool.query('TRUNCATE justonce_parked')
  const provider = new Worker(server, { eval: true })
  const [port] = (await once(provider, 'message')) as [number]
  const app = justonce({ store: postgresStore({ pool }), only: ['intents'] })
  app.effect(effect, httpEffect({ url: `http://127.0.0.1:${port}/`, keyed: true }))
  await intendAll(app, pool, calls)
  const { promise: done, resolve } = Promise.withResolvers<void>()
  let left = calls
  app.events.listen((event) => {
    if (event.kind === 'intent-done' && --left === 0) resolve()
    if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
  })
  const begunAt = performance.now()
  await app.start()
  await done
  const ms = performance.now() - begunAt
  await app.stop()
  provider.postMessage('how many')
  const [seen] = (await once(provider, 'message')) as [number]
  await provider.terminate()
  const { rows } = await pool.query<{ count: string }>('SELECT count(*) FROM justonce_parked')
  return { deliveries: calls, ms, correct: seen === calls && Number(rows[0]?.count) === 0 }
}

async function intendAll(
  app: { intend(effect: string, payload: unknown, given: { tx: never }): Promise<unknown> },
  pool: Pool,
  calls: number,
): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    for (let call = 0; call < calls; call++)
      await app.intend(effect, { to: `user-${call}@example.com` }, { tx: client as never })
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}
