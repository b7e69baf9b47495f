/**
 * Rough figures, for the driver pages: `node test/redis/measure.ts`. Needs redis-server and Postgres on this machine.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Hints, Store } from '../../src/contracts/index.ts'
import { hotSide } from '../../src/hints/index.ts'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { startPostgres } from '../servers/postgres.ts'
import { descendantsOf } from '../servers/process-tree.ts'
import { startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { connected, freshTag, isolatedStore, leaseStore, type TestClient } from './open-redis.ts'

const total = 40_000
const ids = Array.from({ length: total }, (_, index) => `m${index}`)

async function main(): Promise<void> {
  const redis = await startRedis()
  const client = await connected(redis.url)
  try {
    console.log(`Redis ${redis.version}, appendfsync everysec; ${total} messages, each raises one counter`)
    await measure('bare INCR, one after the other', () => inTurn(1, (id) => client.incr(`bare:${id}`)))
    await measure('one MULTI per message (SET NX, INCR), one after the other', () => inTurn(1, multi(client, 'a')))
    await measure('one MULTI per message, 4 at a time', () => inTurn(4, multi(client, 'b')))
    await measure('redisStore isolated, batches', () => isolated(client))
    await measure('redisStore lease, once() one after the other', () => leased(client))
    await fromAfar(redis)
    await duplicates(client)
  } finally {
    client.destroy()
    await redis.stop()
  }
}

/** How many a second, and what they cost this process: on a busy machine only the second can be compared. */
async function measure(
  what: string,
  run: () => Promise<unknown>,
  { count = total, serverCpuMs = () => 0 }: { count?: number; serverCpuMs?: () => number } = {},
): Promise<void> {
  const serverBefore = serverCpuMs()
  const before = performance.now()
  const cpuBefore = process.cpuUsage()
  await run()
  const perSecond = Math.round((count / (performance.now() - before)) * 1_000)
  const { user, system } = process.cpuUsage(cpuBefore)
  const cpuUs = Math.round((user + system) / count)
  const serverUs = Math.round(((serverCpuMs() - serverBefore) * 1_000) / count)
  const server = serverUs === 0 ? '' : `, ${serverUs} µs in the database`
  console.log(
    `${perSecond.toLocaleString('en').padStart(9)}/s ${String(cpuUs).padStart(5)} µs CPU each${server}  ${what}`,
  )
}

async function inTurn(width: number, act: (id: string) => Promise<unknown>, count = total): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await act(ids[next++] as string)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

function multi(client: TestClient, run: string): (id: string) => Promise<unknown> {
  return (id) => client.multi().set(`seen:${run}:${id}`, '1', { NX: true }).incr(`effects:${run}:${id}`).exec()
}

/** Two milliseconds there and back, as between two data centres of one region. */
async function fromAfar(redis: RedisServer): Promise<void> {
  const proxy = await startProxy('127.0.0.1', redis.port)
  const client = await connected(`redis://${proxy.host}:${proxy.port}`)
  proxy.slow(1)
  console.log('The same, with a millisecond more each way')
  const few = 4_000
  await measure('one MULTI per message, 4 at a time', () => inTurn(4, multi(client, 'afar'), few), { count: few })
  await measure('redisStore isolated, batches', () => isolated(client))
  client.destroy()
  await proxy.stop()
}

async function isolated(client: TestClient): Promise<void> {
  const tag = freshTag()
  await consume(isolatedStore(client, tag), (id, tx) => tx.command('INCR', `effects:{${tag}}:${id}`))
}

async function leased(client: TestClient): Promise<void> {
  const { once } = await import('../../src/index.ts')
  const store = leaseStore(client, freshTag())
  await inTurn(1, (id) => once(store, { handler: 'count', key: id }, () => undefined))
}

async function consume<Tx>(
  store: Store<Tx>,
  work: (id: string, tx: Tx) => Promise<unknown>,
  messages: readonly string[] = ids,
  hints?: Hints,
): Promise<void> {
  const transport = memoryTransport()
  const app = justonce({ store: store as Store, transport, ...(hints && { hints }) })
  app.on('note.created', 'count', (message, { tx }) => work(message.id, tx as Tx))
  transport.send(messages.map((id) => ({ id, type: 'note.created', body: { id } })))
  await app.start()
  await transport.idle()
  await app.stop()
}

/** Everything has been handled by another process; one in ten is new. */
async function duplicates(client: TestClient): Promise<void> {
  const postgres = await startPostgres()
  const pool = new pg.Pool({ connectionString: postgres.url, max: 10 })
  pool.on('error', () => {})
  try {
    await pool.query('create table effects (id text)')
    const work = (id: string, tx: pg.PoolClient) => tx.query('insert into effects values ($1)', [id])
    const cold = (): Store<pg.PoolClient> => postgresStore({ pool }) as unknown as Store<pg.PoolClient>
    const hints = hotSide({ client })
    await consume(cold(), work, ids, hints)
    const again = (run: string) => ids.map((id, index) => (index % 10 === 0 ? `${run}:${id}` : id))
    console.log(`Postgres ${postgres.version}; ${total} messages, nine in ten were handled by another process before`)
    const cpu = (): number => cpuMsOf(postgres.folder)
    await measure('postgresStore', () => consume(cold(), work, again('cold')), { serverCpuMs: cpu })
    await measure('postgresStore with a hot Redis', () => consume(cold(), work, again('hot'), hints), {
      serverCpuMs: cpu,
    })
    await measure('postgresStore, all duplicates', () => consume(cold(), work, ids), { serverCpuMs: cpu })
    await measure('postgresStore with a hot Redis, all duplicates', () => consume(cold(), work, ids, hints), {
      serverCpuMs: cpu,
    })
  } finally {
    await pool.end()
    await postgres.stop()
  }
}

/** What the server and all its processes have used. */
function cpuMsOf(folder: string): number {
  const postmaster = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  const ticks = [postmaster, ...descendantsOf(postmaster)].map((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return Number(fields[11]) + Number(fields[12])
    } catch {
      return 0
    }
  })
  return ticks.reduce((sum, each) => sum + each, 0) * 10
}

await main()
