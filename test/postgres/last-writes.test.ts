import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { once } from '../../src/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'

const server = await requireServer('postgres')
const inbox = 'justonce_inbox_timeless'

/** What travels with the commit is looked at by nobody before it. */
describe.skipIf(!server.available).each(poolsOf)('$client: a result that does not stay', ({ open }) => {
  let shared: SharedPool
  beforeEach(async () => {
    shared = open({ url: await createDatabase(server.url) })
    await shared.store.schema.install()
    await shared.query('CREATE TABLE charges (id text NOT NULL)')
    await shared.query(`CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
  })
  afterEach(() => shared.close())

  const charge = (id: string, also?: string) =>
    once(shared.store, { handler: 'charge', key: id }, async (tx) => {
      await shared.run(tx, `INSERT INTO charges VALUES ('${id}')`)
      if (also !== undefined) await shared.run(tx, also)
      return { id }
    })
  const charges = async () => (await shared.query('SELECT count(*)::int AS count FROM charges')) as unknown
  const count = async () => {
    const answer = await charges()
    const [row] = (Array.isArray(answer) ? answer : (answer as { rows: unknown[] }).rows) as { count: number }[]
    return row?.count
  }

  test.each(['INSERT', 'UPDATE'])('a trigger on %s keeps it away: nothing is committed', async (what) => {
    await charge('c1')
    await shared.query(
      `CREATE TRIGGER nothing BEFORE ${what} ON ${inbox} FOR EACH ROW WHEN (NEW.result IS NOT NULL) EXECUTE FUNCTION nothing()`,
    )
    await expect(charge('c2')).rejects.toMatchObject({
      code: 'STORE_DENIED',
      message: expect.stringContaining('1 records were not changed'),
    })
    expect(await count()).toBe(1)
    await shared.query(`DROP TRIGGER nothing ON ${inbox}`)
    expect(await charge('c2')).toMatchObject({ status: 'processed' })
  })

  test('the record has vanished: nothing is committed', async () => {
    const vanishing = charge('c1', `DELETE FROM ${inbox} WHERE key = 'c1'`)
    await expect(vanishing).rejects.toMatchObject({ code: 'STORE_DENIED' })
    expect(await count()).toBe(0)
    expect(await charge('c1')).toMatchObject({ status: 'processed', value: { id: 'c1' } })
    expect(await charge('c1')).toMatchObject({ status: 'duplicate', value: { id: 'c1' } })
  })

  test('a deferred constraint is still the error of the commit', async () => {
    await shared.query('CREATE TABLE late (id text UNIQUE DEFERRABLE INITIALLY DEFERRED)')
    const twice = charge('c1', `INSERT INTO late VALUES ('a'), ('a')`)
    await expect(twice).rejects.toMatchObject({ code: '23505' })
    expect(await count()).toBe(0)
  })

  test('the statement that writes it has vanished: the work runs again', async () => {
    for (const id of ['c1', 'c2']) await charge(id)
    expect(await charge('c3', 'DEALLOCATE ALL')).toMatchObject({ status: 'processed' })
    expect(await count()).toBe(3)
    expect(await charge('c3')).toMatchObject({ status: 'duplicate', value: { id: 'c3' } })
  })
})
