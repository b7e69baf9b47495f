import mysql, { type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { startMariadb } from '../../test/servers/mariadb.ts'
import { seenIn } from '../transfers/tables.ts'
import { accounts, type Transfer } from '../transfers/workload.ts'
import { startTransfers } from './app.ts'
import { concurrency, type Ground, poolSize, statements } from './ground.ts'

export async function openMariadb(): Promise<Ground> {
  const server = await startMariadb()
  const pool = mysql.createPool({ uri: await server.createDatabase('bench'), connectionLimit: poolSize })
  await pool.query('CREATE TABLE ledger (transfer varchar(40) NOT NULL, account int NOT NULL, amount int NOT NULL)')
  await pool.query('CREATE TABLE balances (account int PRIMARY KEY, balance bigint NOT NULL)')
  await mysqlStore({ pool }).schema.install()
  return {
    name: 'mariadb',
    about: `MariaDB ${server.version} over mysql2, innodb_flush_log_at_trx_commit = 1`,
    bareConcurrency: concurrency,
    async applyBare(id, transfer) {
      const connection = await pool.getConnection()
      try {
        await connection.beginTransaction()
        await applyTransfer(connection, id, transfer)
        await connection.commit()
      } finally {
        connection.release()
      }
    },
    startApp: (transport) => startTransfers(mysqlStore({ pool }), transport, applyTransfer),
    async empty() {
      for (const table of ['ledger', 'balances', 'justonce_inbox']) await pool.query(`TRUNCATE ${table}`)
      await pool.query('INSERT INTO balances VALUES ?', [
        Array.from({ length: accounts }, (_, account) => [account, 0]),
      ])
    },
    async look() {
      const [rows] = await pool.query<RowDataPacket[]>(statements.look)
      return seenIn(rows[0] ?? {})
    },
    async close() {
      await pool.end()
      await server.stop()
    },
  }
}

async function applyTransfer(tx: PoolConnection, id: string, { account, amount }: Transfer): Promise<void> {
  await tx.execute(statements.ledger, [id, account, amount])
  await tx.execute(statements.balance, [amount, account])
}
