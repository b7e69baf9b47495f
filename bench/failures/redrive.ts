import { setTimeout as sleep } from 'node:timers/promises'
import type { Measured } from '../rounds.ts'
import { emptyTables } from '../transfers/tables.ts'
import type { Workload } from '../transfers/workload.ts'
import { type AppSetup, type RunningApp, startApp } from './app.ts'
import { fillDeadLetters } from './parked-rows.ts'
import { isAllDone } from './traffic.ts'

export interface RedriveSetup extends AppSetup {
  readonly workload: Workload
}

/** Dead letters, from the call that redrives them until each of them has been processed. */
export async function measureRedrive(setup: RedriveSetup): Promise<Measured> {
  const { pool, workload } = setup
  const app = await startWithDeadLetters(setup)
  const begunAt = performance.now()
  const { id, selected } = await app.letters.redrive('all', { by: 'bench' })
  await app.untilProcessed(workload.messages)
  const ms = performance.now() - begunAt
  await untilEnded(app, id)
  const { state } = await app.letters.redriveStatus(id)
  await app.stop()
  const correct =
    selected === workload.messages && state === 'finished' && (await isAllDone({ pool, workload, parked: 0 }))
  return { deliveries: workload.messages, ms, correct }
}

export async function startWithDeadLetters(setup: RedriveSetup): Promise<RunningApp> {
  await emptyTables(setup.pool)
  await fillDeadLetters(setup.pool, setup.workload)
  return await startApp(setup)
}

async function untilEnded(app: RunningApp, id: string): Promise<void> {
  while ((await app.letters.redriveStatus(id)).state === 'running') await sleep(10)
}
