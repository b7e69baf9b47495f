import { type Connection, createConnection, type Pool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { once } from '../../src/engine/once/once.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

/** How many rollbacks to a savepoint must have been hit before the test has seen anything. */
const enough = 2
/** One after the other, because most come too early or too late. */
const shots = 5

/** Somebody kills statements that seem to take too long, and hits the one that undoes failed work. */
describe.skipIf(!mariadb.available)('a rollback to a savepoint that is interrupted', () => {
  let url: string
  let pool: Pool
  let gunner: Connection
  let store: MysqlStore<PoolConnection>
  let interrupted: number

  beforeAll(async () => {
    url = await createMysqlDatabase(mariadb.url)
    const owner = newPool({ url })
    await mysqlStore({ pool: owner }).schema.install()
    await owner.query('CREATE TABLE effects (name varchar(100))')
    await owner.end()
    gunner = await createConnection(url)
    return () => gunner.end()
  })
  beforeEach(async () => {
    interrupted = 0
    pool = newPool({ url, pool: { connectionLimit: 1 } })
    store = mysqlStore({ pool: { getConnection: async () => underFire(await pool.getConnection()) } })
    return () => pool.end()
  })

  /** At every rollback to a savepoint the server is told to interrupt what this connection is running. Some of them are hit. */
  function underFire(connection: PoolConnection): PoolConnection {
    const query = connection.query.bind(connection) as (...values: unknown[]) => Promise<unknown>
    const shotAt = async (...values: unknown[]) => {
      if ((values[0] as { sql?: string }).sql?.startsWith('ROLLBACK TO') !== true) return await query(...values)
      const kill = () => gunner.query(`KILL QUERY ${connection.threadId}`)
      const [answer] = await Promise.allSettled([query(...values), ...Array.from({ length: shots }, kill)])
      if (answer.status === 'fulfilled') return answer.value
      if (answer.reason.errno === 1317) interrupted++
      throw answer.reason
    }
    return Object.assign(connection, { query: shotAt })
  }

  /** A shot that comes late may hit the next statement; then the whole turn fails, and is rolled back. */
  async function untilHit(turn: (number: number) => Promise<unknown>): Promise<void> {
    for (let number = 0; interrupted < enough; number++) await turn(number).catch(() => {})
  }

  const failing = (tx: PoolConnection, key: string) =>
    once(store.within(tx), { handler: 'charge', key }, async (lent) => {
      await lent.query('INSERT INTO effects VALUES (?)', [key])
      throw new Error('declined')
    }).catch(() => {})

  const left = async () => {
    const [rows] = await pool.query<RowDataPacket[]>(
      `SELECT (SELECT count(*) FROM effects) AS effects, (SELECT count(*) FROM justonce_inbox) AS records`,
    )
    return rows[0]
  }

  test('joined to a transaction of the caller, who goes on and commits: nothing of the work is left', async () => {
    await untilHit(async (turn) => {
      const connection = underFire(await pool.getConnection())
      try {
        await connection.beginTransaction()
        await failing(connection, `joined ${turn}`)
        await connection.commit()
      } finally {
        await untilDone(() => connection.rollback())
        connection.release()
      }
    })
    expect(await left()).toEqual({ effects: 0, records: 0 })
  })

  test('inside a transaction of the store: nothing of the work is left', async () => {
    await untilHit((turn) => store.transaction((tx) => failing(tx, `inside ${turn}`)))
    expect(await left()).toEqual({ effects: 0, records: 0 })
  })

  test('inside a handler: nothing of the work is left', async () => {
    await untilHit((turn) =>
      store.transaction(async (tx) => {
        const loan = store.lend(tx, { borrower: 'charge', onLateCall: () => {} })
        await failing(loan.tx, `lent ${turn}`)
        await loan.end().tidied
      }),
    )
    expect(await left()).toEqual({ effects: 0, records: 0 })
  })
})

async function untilDone(work: () => Promise<unknown>): Promise<void> {
  while (
    !(await work().then(
      () => true,
      () => false,
    ))
  );
}
