import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import type { Transport } from '../../src/contracts/index.ts'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'

/** A database with a table in which every run of the handler leaves a row: a message that ran twice has two. */
export async function createDatabase(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'justonce-rabbitmq-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'app.db')
  const store = sqliteStore({ path })
  await store.schema.install()
  await store.close()
  const database = new DatabaseSync(path)
  database.exec('create table effects (id text not null)')
  database.close()
  return path
}

export function countEffects(path: string): { readonly effects: number; readonly messages: number } {
  const database = new DatabaseSync(path)
  try {
    const row = database.prepare('select count(*) as effects, count(distinct id) as messages from effects').get()
    return { effects: Number(row?.effects), messages: Number(row?.messages) }
  } finally {
    database.close()
  }
}

/** An app whose only handler writes the id of the message. */
export function countingApp(path: string, transport: Transport) {
  const store = sqliteStore({ path })
  const app = justonce({ store, transport, schema: 'check', batch: { max: 50, budgetMs: 1_000 }, pollMs: 50 })
  app.on('note.created', 'count', async (message, { tx }) => {
    tx.prepare('insert into effects (id) values (?)').run(message.id)
  })
  return {
    app,
    store,
    async stop(): Promise<void> {
      await app.stop()
      await store.close()
    },
  }
}

/** Runs a counting app in this process and remembers what happened. */
export function watchedApp(path: string, transport: Transport) {
  const { app, store, stop } = countingApp(path, transport)
  const events: JustonceEvent[] = []
  const watchers = new Set<() => void>()
  app.events.listen((event) => {
    events.push(event)
    for (const wake of [...watchers]) wake()
  })
  onTestFinished(stop)
  return {
    app,
    store,
    events,
    /** Resolves when enough has happened; fails when it has not after a minute. */
    async until(isEnough: (events: readonly JustonceEvent[]) => boolean, what: string): Promise<void> {
      const deadline = AbortSignal.timeout(60_000)
      while (!isEnough(events)) {
        if (deadline.aborted) throw new Error(`Waited in vain for ${what}. The last events: ${lastOf(events)}`)
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            watchers.delete(wake)
            resolve()
          }
          watchers.add(wake)
          deadline.addEventListener('abort', wake)
        })
      }
    },
  }
}

export function processed(events: readonly JustonceEvent[]): number {
  return events.filter(({ kind }) => kind === 'processed').length
}

function lastOf(events: readonly JustonceEvent[]): string {
  return events
    .slice(-20)
    .map((event) => ('error' in event ? `${event.kind}: ${String(event.error)}` : event.kind))
    .join(', ')
}
