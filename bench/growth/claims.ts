import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import type { ClaimRequest } from '../../src/driver.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import type { Way } from '../rounds.ts'
import { daysAgo, fillBorn, fillTimeless, settle } from './fill.ts'

/** With a time in the id, or without any order at all. */
export type Kind = 'uuidv7' | 'random'

export interface Grown {
  readonly kind: Kind
  readonly millions: number
  readonly pool: pg.Pool
  readonly store: PostgresStore<pg.PoolClient>
}

export const concurrency = 4
export const batchSize = 50

export async function openGrown(url: string, { kind, millions }: Pick<Grown, 'kind' | 'millions'>): Promise<Grown> {
  const { pool, store } = await openInstalled(url)
  const records = millions * 1_000_000
  // A month of them, as records that are kept for a month would be.
  if (kind === 'random') await fillTimeless(pool, records)
  else await fillBorn(pool, records, daysAgo(30), daysAgo(0))
  await settle(pool)
  return { kind, millions, pool, store }
}

export async function openInstalled(url: string): Promise<Pick<Grown, 'pool' | 'store'>> {
  const pool = new pg.Pool({ connectionString: url, max: concurrency + 2 })
  const store = postgresStore({ pool, listen: false })
  await store.schema.install()
  // Days from before today are made as claims come for them.
  const days = Array.from({ length: 31 }, (_, day) => newRequest('uuidv7', daysAgo(day)))
  await store.transaction((tx) => store.inbox.claim(tx, days))
  return { pool, store }
}

export function newRequest(kind: Kind, born: Date): ClaimRequest {
  const key = kind === 'random' ? randomUUID() : uuidv7(born)
  return { handler: 'tag-note', key, fingerprint: randomBytes(16), born: kind === 'random' ? undefined : born }
}

function uuidv7(born: Date): string {
  const time = born.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

export function claimWays(grown: readonly Grown[], messages: number): Way[] {
  return grown.map(({ kind, millions, store }) => ({
    name: `${kind}-${millions}m`,
    against: `${kind}-0m`,
    async measure() {
      const batches = Array.from({ length: Math.ceil(messages / batchSize) }, () =>
        Array.from({ length: batchSize }, () => newRequest(kind, new Date())),
      )
      const sample = batches.map(([first]) => first as ClaimRequest)
      const waiting = batches.values()
      let ours = 0
      const startedAt = performance.now()
      await Promise.all(
        Array.from({ length: concurrency }, async () => {
          for (const batch of waiting) {
            const claimed = await claimBatch(store, batch)
            ours += claimed
          }
        }),
      )
      const ms = performance.now() - startedAt
      const again = await claimBatch(store, sample)
      const deliveries = batches.length * batchSize
      return { deliveries, ms, correct: ours === deliveries && again === 0 }
    },
  }))
}

/** How many of them are ours. */
export async function claimBatch(store: Grown['store'], batch: readonly ClaimRequest[]): Promise<number> {
  const sorted = batch.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const { existing } = await store.transaction((tx) => store.inbox.claim(tx, sorted))
  return existing.filter((record) => record === undefined).length
}
