import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import {
  type Refusal,
  stripeSignature,
  type WebhookTransportOptions,
  webhookTransport,
} from '../../src/transports/webhooks/index.ts'
import { serve } from './serve.ts'
import { secret, stripeEvent, stripeHeaders } from './signing.ts'

/** A real app on a real database file, fed by real HTTP requests. */
export async function openHooks(options: Partial<WebhookTransportOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-webhooks-'))
  const path = join(folder, 'app.db')
  const store = sqliteStore({ path })
  await store.schema.install()
  const refusals: Refusal[] = []
  const transport = webhookTransport({
    verify: stripeSignature({ secret }),
    onRefused: (refusal) => refusals.push(refusal),
    ...options,
  })
  const app = justonce({ store, from: transport, pollMs: 20 })
  const events: JustonceEvent[] = []
  app.events.listen((event) => events.push(event))
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE charges (event TEXT)')
  const url = await serve(transport.nodeHandler)
  onTestFinished(async () => {
    await app.stop()
    await transport.close()
    await store.close()
    database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    app,
    store,
    transport,
    path,
    url,
    /** Another connection to the same file. */
    database,
    refusals,
    events,
    post: postTo(url),
    /** How often each event was written. */
    charges: (): Record<string, number> => {
      const rows = database.prepare('SELECT event, count(*) AS times FROM charges GROUP BY event').all()
      return Object.fromEntries(rows.map(({ event, times }) => [event, times])) as Record<string, number>
    },
  }
}

/** Another app on the same database file: another process, as far as the database can tell. */
export async function openAnother(path: string) {
  const store = sqliteStore({ path })
  const transport = webhookTransport({ verify: stripeSignature({ secret }) })
  const app = justonce({ store, from: transport })
  const url = await serve(transport.nodeHandler)
  onTestFinished(async () => {
    await app.stop()
    await store.close()
  })
  return { app, post: postTo(url) }
}

/** Sends an event as Stripe would. */
function postTo(url: string) {
  return (id: string, changes: Record<string, unknown> = {}): Promise<Response> => {
    const body = stripeEvent(id, changes)
    return fetch(url, { method: 'POST', body, headers: stripeHeaders(body) })
  }
}

/** The effect that is counted. */
export function charge(tx: { prepare(sql: string): { run(...values: string[]): unknown } }, event: string): void {
  tx.prepare('INSERT INTO charges (event) VALUES (?)').run(event)
}
