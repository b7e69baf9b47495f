import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import type { Transport } from '../../src/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import type { Lines } from '../suite.ts'
import { throwLater } from '../throw-later.ts'
import { countingPool } from '../transfers/count-trips.ts'
import { transfersApp } from '../transfers/justonce-consumers.ts'
import { prefetched } from '../transfers/prefetched.ts'

/** What an app costs that has nothing to do. */
export interface IdleRow {
  readonly name: string
  /** Of one core, in this process. */
  readonly cpuPercent: number
  readonly statementsPerSecond: number
}

const transports: Readonly<Record<string, (store: PostgresStore<PoolClient>) => Transport>> = {
  idle: () => prefetched(),
  'idle-queue': (store) => queueTransport({ store }),
}

export async function measureIdle(url: string, seconds: number): Promise<readonly IdleRow[]> {
  const rows: IdleRow[] = []
  for (const [name, transportOf] of Object.entries(transports)) {
    const { pool, trips } = countingPool(url, 10)
    const store = postgresStore({ pool })
    const app = transfersApp(transportOf(store), { store, takes: 'each' })
    app.events.listen((event) => {
      if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
    })
    await app.start()
    // What it does at its start is not what it does all day.
    await sleep(1_000)
    const [statements, cpu, begunAt] = [trips.statements, process.cpuUsage(), performance.now()]
    await sleep(seconds * 1_000)
    const { user, system } = process.cpuUsage(cpu)
    const ms = performance.now() - begunAt
    rows.push({
      name,
      cpuPercent: Number(((user + system) / ms / 10).toFixed(2)),
      statementsPerSecond: Number((((trips.statements - statements) / ms) * 1_000).toFixed(2)),
    })
    await app.stop()
    await store.close()
    await pool.end()
  }
  return rows
}

export function idleLines(rows: readonly IdleRow[]): Lines {
  const head = ['name', 'CPU, percent of a core', 'statements per second']
  return [head, ...rows.map((row) => [row.name, row.cpuPercent.toFixed(2), row.statementsPerSecond.toFixed(2)])]
}
