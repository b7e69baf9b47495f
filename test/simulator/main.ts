import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { planOf as outgoingPlan } from './outgoing/plan.ts'
import { simulateOutgoing } from './outgoing/simulate.ts'
import { realApp } from './real-app.ts'
import { planOf as reservationPlan } from './reservations/plan.ts'
import { simulateReservations } from './reservations/simulate.ts'
import { scenarioOf } from './scenario.ts'
import { shrink } from './shrink.ts'
import { simulate } from './simulate.ts'
import { story } from './story.ts'
import { addTally, emptyTally, report, type Tally } from './tally.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    world: { type: 'string', default: 'messages' },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
})

/** Worlds of their own, by name. */
const others: Readonly<Record<string, (seed: number) => Promise<{ readonly violations: readonly string[] }>>> = {
  outgoing: (seed) => simulateOutgoing(outgoingPlan(seed)),
  reservations: (seed) => simulateReservations(reservationPlan(seed)),
}

const other = others[values.world]
if (other === undefined && values.world !== 'messages')
  throw new Error(`There is no world ${values.world}, only messages, ${Object.keys(others).join(', ')}.`)
if (other !== undefined) await manyOf(other)
else if (values.seed === undefined) await many(Number(values.from), Number(values.seeds), Number(values.workers))
else await one(Number(values.seed))

async function manyOf(simulateSeed: (typeof others)[string]): Promise<void> {
  const from = Number(values.seed ?? values.from)
  const seeds = values.seed === undefined ? Number(values.seeds) : 1
  let failed = 0
  for (let seed = from; seed < from + seeds; seed++) {
    const { violations } = await simulateSeed(seed)
    if (violations.length === 0) continue
    failed++
    console.log(`seed ${seed}: ${violations.join('; ')}`)
  }
  console.log(`${seeds - failed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

/** Many seeds; the first failing one is made small and reported. */
async function many(from: number, seeds: number, workers: number): Promise<void> {
  const tally = emptyTally()
  const begunAt = performance.now()
  await Promise.all(
    Array.from({ length: workers }, (_, index) => runWorker(from + index, from + seeds, workers, tally)),
  )
  console.log(report(tally, (performance.now() - begunAt) / 1_000))
  const first = tally.failed.sort((a, b) => a.seed - b.seed)[0]
  console.log(`${tally.seeds - tally.failed.length} passed, ${tally.failed.length} failed`)
  if (first === undefined) return
  process.exitCode = 1
  await one(first.seed)
}

async function runWorker(from: number, to: number, step: number, tally: Tally): Promise<void> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { from, to, step } })
  worker.on('message', (part: Tally) => {
    addTally(tally, part)
    if (process.stderr.isTTY) process.stderr.write(`\r${tally.seeds} seeds, ${tally.failed.length} failed `)
  })
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}

/** One seed, replayed exactly; if it fails, the smallest scenario that fails in the same way. */
async function one(seed: number): Promise<void> {
  const { violations } = await simulate(scenarioOf(seed))
  if (violations.length === 0) return console.log(`seed ${seed} holds`)
  const kind = (violations[0] as string).split(':')[0] as string
  const small = await shrink(scenarioOf(seed), realApp, kind)
  console.log(
    `\nseed ${seed} fails. The smallest world that still does:\n\n${story(await simulate(small, realApp, true))}`,
  )
  console.log(`\nagain: npm run simulate -- --seed ${seed}`)
  process.exitCode = 1
}
