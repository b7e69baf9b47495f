import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { freshTag } from '../servers/redis.ts'
import { requireServer } from '../servers/require.ts'
import { runHere } from './run-here.ts'

const [postgres, mysql, redis] = [
  await requireServer('postgres'),
  await requireServer('mariadb'),
  await requireServer('redis'),
]

interface Doctored {
  readonly findings: readonly {
    readonly check: string
    readonly level: string
    readonly found: string
    readonly fix?: string
  }[]
}

async function doctor(...where: readonly string[]): Promise<Doctored['findings']> {
  const { out, err } = await runHere(['doctor', '--json', ...where])
  expect(err).toBe('')
  return (JSON.parse(out) as Doctored).findings
}

/** Commands that every store must answer, with clients of the project. */
async function answers(...where: readonly string[]): Promise<void> {
  expect(await runHere(['migrate', ...where])).toMatchObject({ code: 0, err: '' })
  const status = await runHere(['status', '--json', ...where])
  expect([status.code, status.err]).toEqual([0, ''])
  expect(JSON.parse(status.out)).toMatchObject({ overview: { processes: 0, parked: { waiting: 0, dead: 0 } } })
  expect(await runHere(['handlers', 'pause', 'tag-note', '--why', 'test', ...where])).toMatchObject({
    code: 0,
    err: '',
  })
  expect((await doctor(...where)).map(({ check }) => check)).toEqual(
    expect.arrayContaining(['tables', 'pauses', 'backlog']),
  )
  for (const list of [
    'dead-letters list',
    'waiting list',
    'outgoing status',
    'outgoing list',
    'intents list',
    'schedules list',
  ])
    expect(await runHere([...list.split(' '), ...where])).toMatchObject({ code: 0, err: '' })
  expect((await runHere(['audit', ...where])).out).toContain('tag-note')
}

test.skipIf(!postgres.available)('a Postgres by its URL, in another schema and with another prefix', async () => {
  const url = await createDatabase(postgres.url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('CREATE SCHEMA shop')
    const where = ['--store', url, '--schema', 'shop', '--prefix', 'once_']
    await answers(...where)
    const codes = async (): Promise<readonly string[]> => (await doctor(...where)).map(({ check }) => check)
    expect(await codes()).not.toContain('INDEX_MISSING')
    await client.query('DROP INDEX shop.once_parked_steps')
    await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
    expect(await codes()).toEqual(expect.arrayContaining(['INDEX_MISSING', 'COMMITS_NOT_DURABLE']))
  } finally {
    await client.end()
  }
})

describe.skipIf(!mysql.available)('MariaDB', () => {
  test('by its URL', async () => {
    await answers('--store', await createMysqlDatabase(mysql.url))
  })
})

test.skipIf(!redis.available)('a Redis by its URL', async () => {
  await answers('--store', redis.url, '--prefix', freshTag())
})
