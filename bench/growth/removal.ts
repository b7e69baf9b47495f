import { setTimeout as sleep } from 'node:timers/promises'
import type { Way } from '../rounds.ts'
import { batchSize, claimBatch, concurrency, type Grown, newRequest, openInstalled } from './claims.ts'
import { daysAgo, fillBorn, fillTimeless, settle } from './fill.ts'

const windowMs = 4_000
const daysInARound = 5
const keptDays = 31
/** As the maintainer goes about it. */
const step = { budgetMs: 100, pauseMs: 200 }

export interface Removal {
  readonly ways: readonly Way[]
  /** By way, and under `way: removed` how many it has removed. */
  longestMs(): ReadonlyMap<string, number>
  close(): Promise<void>
}

/** The same claims for a few seconds: with nothing beside them, while days are removed, while timeless ones are. */
export async function removalWays(
  url: string,
  { rounds, millions }: { readonly rounds: number; readonly millions: number },
): Promise<Removal> {
  const { pool, store } = await openInstalled(url)
  const oldest = keptDays + rounds * daysInARound
  const old = Array.from({ length: oldest }, (_, day) => newRequest('uuidv7', daysAgo(day)))
  await claimBatch(store, old)
  const records = Math.ceil(millions / 2) * 1_000_000
  await fillBorn(pool, records, daysAgo(oldest - 1), daysAgo(keptDays - 1))
  await fillTimeless(pool, records)
  await settle(pool)
  await store.retention.raise((keptDays - 2) * 86_400_000)

  const figures = new Map<string, number>()
  const timelessBefore = new Date()
  let day = oldest
  const way = (name: string, remove: (until: () => boolean) => Promise<number>): Way => ({
    name,
    against: 'quiet',
    async measure() {
      const startedAt = performance.now()
      const isOver = () => performance.now() - startedAt > windowMs
      const [traffic, removed] = await Promise.all([runTraffic(store, isOver), remove(isOver)])
      figures.set(name, Math.max(figures.get(name) ?? 0, traffic.longestMs))
      figures.set(`${name}: removed`, (figures.get(`${name}: removed`) ?? 0) + removed)
      return {
        deliveries: traffic.claims,
        ms: traffic.ms,
        correct: traffic.isRight && (name === 'quiet' || removed > 0),
      }
    },
  })
  return {
    ways: [
      way('quiet', async () => 0),
      way('removing-days', (isOver) => {
        day -= daysInARound
        return removeFor(store, { bornBefore: daysAgo(day), timelessBefore: undefined }, isOver)
      }),
      way('removing-timeless', (isOver) => removeFor(store, { bornBefore: new Date(0), timelessBefore }, isOver)),
    ],
    longestMs: () => figures,
    close: () => pool.end(),
  }
}

async function runTraffic(store: Grown['store'], isOver: () => boolean) {
  const startedAt = performance.now()
  let claims = 0
  let ours = 0
  let longestMs = 0
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (!isOver()) {
        const batch = Array.from({ length: batchSize }, () => newRequest('uuidv7', new Date()))
        const begunAt = performance.now()
        const claimed = await claimBatch(store, batch)
        ours += claimed
        claims += batchSize
        longestMs = Math.max(longestMs, performance.now() - begunAt)
      }
    }),
  )
  return { claims, longestMs, ms: performance.now() - startedAt, isRight: ours === claims }
}

async function removeFor(
  store: Grown['store'],
  what: { readonly bornBefore: Date; readonly timelessBefore: Date | undefined },
  isOver: () => boolean,
): Promise<number> {
  let removed = 0
  for (let more = true; more && !isOver(); ) {
    const done = await store.retention.remove({ ...what, budgetMs: step.budgetMs })
    removed += done.removed
    more = done.more
    if (more) await sleep(step.pauseMs)
  }
  return removed
}
