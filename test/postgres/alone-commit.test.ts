import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Queue } from '../../src/contracts/index.ts'
import { parkedMessage, toQueue } from '../../src/testing/sample-records.ts'
import { keysOf, park, reserve } from '../../src/testing/store-cases/parked-rows.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'
import { newPool, newSchema } from './pg-context.ts'

const server = await requireServer('postgres')

/** The server answers such a statement with its rows, and only then commits: what comes last is the error. */
describe.skipIf(!server.available).each(poolsOf)('$client: a statement of its own fails as it commits', ({ open }) => {
  let url: string
  let shared: SharedPool
  let schema: string
  let admin: ReturnType<typeof newPool>
  let queue: Queue<unknown>

  beforeAll(async () => {
    url = await createDatabase(server.url)
  })
  beforeEach(async () => {
    admin = newPool({ url })
    await admin.query(
      `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET default_transaction_isolation = 'serializable'`,
    )
    schema = newSchema()
    shared = open({ url, schema })
    await shared.store.schema.install()
    queue = shared.store.queue as Queue<unknown>
  })
  afterEach(async () => {
    await shared.close()
    await admin.query(`DROP SCHEMA ${schema} CASCADE`)
    await admin.end()
  })

  async function atCommit(table: string, code: string): Promise<void> {
    await admin.query(`
      CREATE FUNCTION ${schema}.at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${code}; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT OR UPDATE ON ${schema}.${table}
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.at_commit()`)
  }
  const refuse = (code: string) => `RAISE EXCEPTION 'refused at the commit' USING ERRCODE = '${code}'`

  test('what was not committed is an error, not an answer', async () => {
    await atCommit('justonce_queue', refuse('23514'))
    await expect(queue.send(undefined, 'notes', [toQueue('q1')])).rejects.toThrow('refused at the commit')
    expect(await queue.count('notes')).toMatchObject({ ready: 0, hidden: 0 })
  })

  test('rows of what was not committed are no part of the next answer', async () => {
    await queue.send(undefined, 'notes', [toQueue('q1')])
    await atCommit('justonce_queue', refuse('23514'))
    const taken = queue.take('notes', { limit: 1, visibilityMs: 60_000 })
    await expect(taken).rejects.toThrow('refused at the commit')
    expect(await queue.count('notes')).toMatchObject({ ready: 1, hidden: 0 })
  })

  test('what the default isolation refuses only at the commit is done with ours', async () => {
    const isStrict = `current_setting('transaction_isolation') = 'serializable'`
    await atCommit('justonce_queue', `IF ${isStrict} THEN ${refuse('40001')}; END IF`)
    await queue.send(undefined, 'notes', [toQueue('q1')])
    expect(await queue.count('notes')).toMatchObject({ ready: 1, hidden: 0 })
    expect(await queue.take('notes', { limit: 1, visibilityMs: 60_000 })).toHaveLength(1)
    expect(await queue.take('notes', { limit: 1, visibilityMs: 60_000 })).toEqual([])
  })
  test('rivals that reserve at the same time get different messages, however long their commits take', async () => {
    await atCommit('justonce_parked', 'PERFORM pg_sleep(random() * 0.004)')
    const rivals = open({ url, schema, max: 6 })
    const keys = Array.from({ length: 40 }, (_, index) => `m${String(index).padStart(2, '0')}`)
    await park(shared.store, ...keys.map((key) => parkedMessage(key)))
    const shares: string[][] = []
    for (let last = -1; shares.length !== last; ) {
      last = shares.length
      const round = await Promise.all(Array.from({ length: 6 }, () => reserve(rivals.store, { limit: 7 })))
      shares.push(...round.map(keysOf).filter((share) => share.length > 0))
    }
    await rivals.close()
    expect(shares.flat().sort()).toEqual(keys)
  })
})
