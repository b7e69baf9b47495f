import { randomBytes } from 'node:crypto'
import mysql, { type Pool, type PoolConnection, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import type { Effects, StoreCaseContext } from '../../src/testing/index.ts'
import { eventually } from '../../src/testing/waiting.ts'
import { sqlEffects } from '../conformance/sql-effects.ts'
import { openTwoStores } from '../conformance/two-stores.ts'
import { askMysql, mysqlDatabaseUrl } from '../servers/mysql-databases.ts'

type Tx = PoolConnection

/** A database of its own for each case. */
export function newDatabase(): string {
  return `case_${randomBytes(6).toString('hex')}`
}

export interface MysqlContextOptions {
  readonly url: string
  readonly pool?: PoolOptions
  /** The pool with callbacks, as `mysql2` itself makes it. */
  readonly callbacks?: boolean
}

export function newPool({ url, pool }: MysqlContextOptions): Pool {
  return mysql.createPool({ uri: url, connectionLimit: 8, ...pool })
}

/** Two stores on two pools of mysql2, and effects in a table beside theirs. */
export async function openMysqlContext(options: MysqlContextOptions): Promise<StoreCaseContext<Tx>> {
  const databases = [newDatabase(), newDatabase()] as const
  await askMysql(options.url, `CREATE DATABASE ${databases[0]}`)
  const url = mysqlDatabaseUrl(options.url, databases[0])
  const pools = [newPool({ ...options, url }), newPool({ ...options, url })] as const
  const admin = newPool({ url })
  return await openTwoStores({
    openStore(client, place) {
      const pool = pools[client]
      const database = place === 0 ? undefined : databases[place]
      return options.callbacks
        ? mysqlStore<Tx>({ pool: { promise: () => pool }, database })
        : mysqlStore({ pool, database })
    },
    declares: ['async-calls', 'idle-timeout', 'tables'],
    effects: mysqlEffects({ pool: pools[0], admin }),
    async createEffects() {
      await admin.query('CREATE TABLE effects (name varchar(200) NOT NULL)')
      await admin.query('CREATE TABLE rows_to_lock (name varchar(200) PRIMARY KEY, n int NOT NULL)')
      await admin.query(`INSERT INTO rows_to_lock VALUES ('x', 0), ('y', 0)`)
    },
    // The server's clock is that of the machine.
    async moveClock(ms) {
      const columns = ['horizon', 'removed_until', 'clock_seen', 'clock_doubted'].map(
        (each) => `${each} = ${each} - (${ms})`,
      )
      await admin.query(`UPDATE justonce_meta SET ${columns.join(', ')}`)
      await admin.query(`UPDATE justonce_facts SET expires_at = expires_at - (${ms})`)
      const ofParked = ['parked_at', 'changed_at', 'next_at'].map((each) => `${each} = ${each} - (${ms})`)
      await admin.query(`UPDATE justonce_parked SET ${ofParked.join(', ')}`)
      await admin.query(`UPDATE justonce_queue SET visible_at = visible_at - (${ms}) WHERE visible_at > 0`)
    },
    backUp: () => dumped(admin, databases[0]),
    createSecondPlace: () => admin.query(`CREATE DATABASE ${databases[1]}`),
    async remove() {
      for (const pool of pools) await pool.end()
      for (const database of databases) await admin.query(`DROP DATABASE IF EXISTS ${database}`)
      await admin.end()
    },
  })
}

const queue = 'justonce_queue'

/** What mysqldump and its file do: tables are dropped, made anew, and filled with what was kept. */
async function dumped(admin: Pool, database: string): Promise<() => Promise<void>> {
  const kept = newDatabase()
  await admin.query(`CREATE DATABASE ${kept}`)
  const [rows] = await admin.query<RowDataPacket[]>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ?',
    [database],
  )
  for (const { name } of rows) {
    await admin.query(`CREATE TABLE ${kept}.${name} LIKE ${database}.${name}`)
    await admin.query(`INSERT INTO ${kept}.${name} SELECT * FROM ${database}.${name}`)
  }
  return async () => {
    // A server tells to the second when a table was made, and nobody restores a dump sooner than that.
    await eventually(async () => {
      const [[found]] = await admin.query<RowDataPacket[]>(
        'SELECT MAX(create_time) < NOW() AS ok FROM information_schema.tables WHERE table_schema = ?',
        [database],
      )
      return found?.ok === 1 ? true : undefined
    }, 'the next second')
    // Each of these commits, while apps are running: they must not get a message before its record and its effects are as they were.
    for (const { name } of rows.toSorted((a, b) => Number(a.name === queue) - Number(b.name === queue))) {
      await admin.query(`DROP TABLE ${database}.${name}`)
      await admin.query(`CREATE TABLE ${database}.${name} LIKE ${kept}.${name}`)
      await admin.query(`INSERT INTO ${database}.${name} SELECT * FROM ${kept}.${name}`)
    }
    await admin.query(`DROP DATABASE ${kept}`)
  }
}

/** Statements that begin or end a transaction here, by what they say or by what MySQL does before them. */
const controls = [
  ...['COMMIT', 'ROLLBACK WORK', 'BEGIN', 'START TRANSACTION READ WRITE', `XA START 'x'`],
  ...['SET autocommit = 1', 'set @@session.autocommit=1', 'SET @a = 1, AUTOCOMMIT = ON'],
  ...['CREATE TABLE t (a int)', 'ALTER TABLE effects ADD a int', 'DROP TABLE effects', 'TRUNCATE effects'],
  ...['RENAME TABLE effects TO t', 'LOCK TABLES effects WRITE', 'UNLOCK TABLES', 'FLUSH TABLES'],
  ...[`GRANT SELECT ON *.* TO nobody`, 'ANALYZE TABLE effects', '/*!50000 COMMIT */', '/* now */ COMMIT'],
  ...['/*!50000COMMIT*/', 'SET `autocommit` = 1', 'IF 1 THEN COMMIT; END IF', `EXECUTE IMMEDIATE 'COMMIT'`],
  ...['EXECUTE IMMEDIATE @a', 'PREPARE s FROM @a', 'KILL CONNECTION_ID()', 'SET ROLE NONE'],
  ...['SELECT 1; COMMIT', '# now\ncommit', '-- now\ncommit', 'SET STATEMENT max_statement_time=1 FOR COMMIT'],
]

const insert = 'INSERT INTO effects VALUES (?)'

export function mysqlEffects({ pool, admin }: { pool: Pool; admin: Pool }): Effects<Tx> {
  const sql = sqlEffects<Tx>({
    run: (tx, text) => tx.query(text),
    checkOut: () => pool.getConnection(),
    release: (tx) => tx.release(),
    begin: ({ repeatableRead }) => [
      `SET TRANSACTION ISOLATION LEVEL ${repeatableRead ? 'REPEATABLE READ' : 'READ COMMITTED'}`,
      'BEGIN',
    ],
    controls,
  })
  return {
    ...sql,
    write: async (tx, name) => void (await tx.execute(insert, [name])),
    async count(name) {
      const [rows] = await admin.query<RowDataPacket[]>('SELECT count(*) AS n FROM effects WHERE name = ?', [name])
      return rows[0]?.n ?? Number.NaN
    },
    writeBadly: (tx, value = '1') => tx.query('INSERT INTO no_such_table VALUES (?)', [value]),
    writeRuinously: (tx) => deadlock(tx, admin),
    lock: (tx, name) => tx.execute('INSERT INTO rows_to_lock VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + 1', [name]),
    controls: [
      ...sql.controls,
      { name: 'commit()', run: (tx) => tx.commit() },
      { name: 'rollback()', run: (tx) => tx.rollback() },
      { name: 'beginTransaction()', run: (tx) => tx.beginTransaction() },
      { name: 'commit by execute', run: (tx) => tx.execute('commit') },
      { name: 'commit in options', run: (tx) => tx.query({ sql: 'COMMIT' }) },
      { name: 'prepared', run: async (tx) => (await tx.prepare('COMMIT')).execute([]) },
    ],
    prepareWrite(tx) {
      const execute = tx.execute.bind(tx)
      return async (name) => void (await execute(insert, [name]))
    },
    cut: async (tx) => void (await admin.query(`KILL ${tx.threadId}`)),
  }
}

/** Runs into a deadlock whose victim is the given transaction: InnoDB picks the one that has changed fewer rows. */
async function deadlock(tx: Tx, admin: Pool): Promise<unknown> {
  const other = await admin.getConnection()
  try {
    await other.beginTransaction()
    await other.query(`INSERT INTO effects SELECT 'ballast' FROM information_schema.columns LIMIT 500`)
    await other.query(`UPDATE rows_to_lock SET n = 1 WHERE name = 'x'`)
    await tx.query(`UPDATE rows_to_lock SET n = 2 WHERE name = 'y'`)
    const waiting = other.query(`UPDATE rows_to_lock SET n = 3 WHERE name = 'y'`)
    waiting.catch(() => {})
    return await tx.query(`UPDATE rows_to_lock SET n = 4 WHERE name = 'x'`).finally(() => waiting.catch(() => {}))
  } finally {
    await other.rollback()
    other.release()
  }
}
