import pg from 'pg'
import { justonce, messages } from '../src/index.ts'
import { postgresStore } from '../src/stores/postgres/index.ts'
import { startPostgres } from '../test/servers/postgres.ts'
import { startSdk, type Watching, ways } from './observability/ways.ts'
import { interleaved, type Measured, median, type Way } from './rounds.ts'
import type { BenchOptions, Lines, Row, Suite } from './suite.ts'
import { throwLater } from './throw-later.ts'
import { applyTransfer } from './transfers/effect.ts'
import { prefetched } from './transfers/prefetched.ts'
import { createTables, emptyTables, isAsExpected } from './transfers/tables.ts'
import { makeWorkload, type Transfer, transferType, type Workload } from './transfers/workload.ts'

/** One batch at a time, and always as large: how large batches become otherwise depends on what else the machine does. */
const concurrency = 1
const batch = { max: 20, budgetMs: 60_000 }

export const observability: Suite = {
  name: 'observability',
  about: 'transfers through Postgres: with nothing watched, and with everything',
  defaults: { rounds: 5, messages: 20_000 },
  quick: { rounds: 1, messages: 1_000 },

  async run(options, say) {
    const server = await startPostgres()
    const pool = new pg.Pool({ connectionString: await server.createDatabase('bench'), max: concurrency + 2 })
    try {
      say(`Postgres ${server.version}, fsync and synchronous_commit on; one connection, batches of ${batch.max}`)
      await createTables(pool)
      return await runAgainst(pool, options, say)
    } finally {
      await pool.end()
      await server.stop()
    }
  },
}

async function runAgainst(pool: pg.Pool, { rounds, messages }: BenchOptions, say: (line: string) => void) {
  const workload = makeWorkload({ messages, seed: 1 })
  const cpu = new Map(ways.map(({ name }) => [name, [] as number[]]))
  const measured = ways.map((watching): Way => {
    return {
      name: watching.name,
      against: 'off',
      ...(watching.name === 'all, each traced' && { goal: { atLeast: 0.95 } }),
      async measure() {
        const { cpuMs, ...result } = await measure(pool, workload, watching)
        cpu.get(watching.name)?.push((cpuMs * 1_000) / result.deliveries)
        return result
      },
    }
  })
  say('warming up')
  for (const watching of ways)
    await measure(pool, makeWorkload({ messages: Math.min(2_000, messages), seed: 2 }), watching)
  const rows = await interleaved(measured, rounds, say)
  const costs = ways.map(({ name }) => ({ name, cpuMicros: median(cpu.get(name) as number[]) }))
  return { rows, more: { cpu: costs }, tables: [{ title: 'With everything watched', lines: linesOf(rows, costs) }] }
}

async function measure(
  pool: pg.Pool,
  workload: Workload,
  { heartbeat, alerts = [], traced, begin }: Watching,
): Promise<Measured & { readonly cpuMs: number }> {
  await emptyTables(pool)
  const sdk = traced === undefined ? undefined : startSdk(traced)
  const { around, traceHeaders } = sdk?.telemetry ?? {}
  const transport = prefetched()
  const app = justonce({
    store: postgresStore({ pool }),
    transport,
    concurrency,
    batch,
    messages: messages<{ [transferType]: Transfer }>(),
    heartbeat: heartbeat ? {} : false,
    ...(alerts.length > 0 && { alerts }),
    ...(around && { around }),
    ...(traceHeaders && { traceHeaders }),
  })
  app.on(transferType, 'apply-transfer', (message, { tx }) => applyTransfer(tx, message.id, message.body))
  app.events.listen((event) => {
    if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
  })
  sdk?.telemetry.watch(app)
  sdk?.telemetry.measure(app)
  await app.start()
  const end = await begin?.(app)
  const cpuBefore = process.cpuUsage()
  const begunAt = performance.now()
  await transport.deliverAll(workload.deliveries)
  const ms = performance.now() - begunAt
  const { user, system } = process.cpuUsage(cpuBefore)
  await end?.()
  await app.stop()
  await sdk?.stop()
  const correct = await isAsExpected(pool, workload, 'each-message-once')
  return { deliveries: workload.deliveries.length, ms, correct, cpuMs: (user + system) / 1_000 }
}

function linesOf(rows: readonly Row[], costs: readonly { readonly cpuMicros: number }[]): Lines {
  const off = costs[0]?.cpuMicros ?? 1
  return [
    ['watched', 'per second', 'ratio', 'CPU µs each', 'CPU ratio', 'correct'],
    ...rows.map(({ name, perSecond, ratio, correct }, place) => {
      const { cpuMicros } = costs[place] as { readonly cpuMicros: number }
      const figures = [cpuMicros.toFixed(0), (cpuMicros / off).toFixed(2)]
      return [name, String(perSecond), ratio.toFixed(2), ...figures, correct ? 'yes' : 'NO']
    }),
  ]
}
