import { consumer, redisFirst } from './by-hand.ts'
import type { Contestant } from './contestant.ts'
import { justonceQueue } from './justonce-queue.ts'

/** What runs without anything being installed: all of it is ours. */
export const ownContestants: readonly Contestant[] = [
  consumer('bare', 'bare transaction', 'a transaction for each message, nothing that would recognise a copy'),
  consumer(
    'insert-first',
    'insert first by hand',
    'INSERT … ON CONFLICT DO NOTHING, then the effect, in one transaction',
  ),
  consumer('check-then-insert', 'check, then insert by hand', 'SELECT, effect, INSERT in one transaction; unique key'),
  redisFirst,
  consumer('handlers', 'justonce: handlers', 'app.on(), defaults'),
  consumer('interleaved', 'justonce: interleaved', 'app.on(), interleave: true'),
  consumer('batch', 'justonce: batch', 'app.onBatch(), two statements for a batch'),
  consumer('once', 'justonce: once()', 'a call for each message'),
  justonceQueue,
]

/** The file that exports the `contestants` of each package. */
const libraries: Readonly<Record<string, string>> = {
  'pg-boss': 'pg-boss',
  'graphile-worker': 'graphile-worker',
  bullmq: 'bullmq',
  '@dbos-inc/dbos-sdk': 'dbos',
  '@aws-lambda-powertools/idempotency': 'powertools',
  'pg-transactional-outbox': 'pg-transactional-outbox',
}

/** Only after `installPeers`. */
export async function loadContestants(): Promise<readonly Contestant[]> {
  const others = await Promise.all(Object.keys(libraries).map(load))
  const isByHand = ({ name }: Contestant) => !name.startsWith('justonce')
  return [
    ...ownContestants.filter(isByHand),
    ...others.flat(),
    ...ownContestants.filter((contestant) => !isByHand(contestant)),
  ]
}

/** Loads no library but its own, so that a worker process starts as fast as it would alone. */
export async function findContestant({ name, from }: ContestantRef): Promise<Contestant> {
  const contestants = from === undefined ? ownContestants : await load(from)
  const found = contestants.find((contestant) => contestant.name === name)
  if (found === undefined) throw new Error(`There is no contestant called ${name}.`)
  return found
}

/** A contestant in a form that can be passed to another process. */
export interface ContestantRef {
  readonly name: string
  /** Its package, if it is one of the others'. */
  readonly from?: string | undefined
}

/** By address, so that a check of types does not need the libraries. */
async function load(from: string): Promise<readonly Contestant[]> {
  const { contestants } = await import(new URL(`./libraries/${libraries[from]}.ts`, import.meta.url).href)
  return contestants
}
