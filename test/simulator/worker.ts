import { parentPort, workerData } from 'node:worker_threads'
import { scenarioOf } from './scenario.ts'
import { simulate } from './simulate.ts'
import { addResult, emptyTally } from './tally.ts'

/** Simulates every nth seed and reports now and then. */
const { from, to, step } = workerData as { from: number; to: number; step: number }
let tally = emptyTally()
for (let seed = from; seed < to; seed += step) {
  addResult(tally, await simulate(scenarioOf(seed)))
  if (tally.seeds < 50) continue
  parentPort?.postMessage(tally)
  tally = emptyTally()
}
parentPort?.postMessage(tally)
