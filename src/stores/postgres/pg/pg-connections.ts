import { type CheckOutOptions, checkedOut } from '../../sql/checked-out.ts'
import { withSomeConnection } from '../../sql/with-some-connection.ts'
import { checkedPgClient } from '../check-client.ts'
import type { PgClientShape, PgPoolShape } from '../client-shapes.ts'
import type { Connection, ConnectionSettings, Connections } from '../connection.ts'
import { explained, isLostConnection } from '../errors.ts'
import { Names } from '../names.ts'
import { statement } from '../statement.ts'
import { runOnGoodOne } from '../transactions/run-alone.ts'
import { watchEncoding } from './encodings.ts'
import { pgLender } from './lent-pg-client.ts'
import { PgConnection, type PgConnectionOptions } from './pg-connection.ts'
import { PgListener } from './pg-listener.ts'
import { PgRunner } from './pg-runner.ts'

const terminateProcess = statement(
  // A pooler gives clients made-up process ids, so the process must also look like ours.
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE pid = $1::int AND pid <> pg_backend_pid() AND usename = session_user AND xact_start IS NOT NULL`,
)

const watched = new WeakSet<object>()

/**
 * `pg` reports a lost client by an `error` event, which is an uncaught error without a listener: a restart of the database
 * would end the process. An idle client reports to the pool, which has removed it by then. A client that the server closes
 * right after it became ready has no listener, because its caller does not have it yet; its first query will fail.
 */
function outliveLostClients(pool: PgPoolShape<never>): void {
  if (watched.has(pool)) return
  watched.add(pool)
  pool.on?.('error', () => {})
  pool.on?.('connect', (client: PgClientShape) => {
    client.on('error', () => {})
    watchEncoding(client)
  })
}

/** Connections from a `Pool` of `pg`. */
export function pgConnections<Client extends PgClientShape>(
  pool: PgPoolShape<Client>,
  { prepare, answers }: ConnectionSettings,
): Connections<Client> {
  outliveLostClients(pool as PgPoolShape<never>)
  const options: PgConnectionOptions = {
    names: new Names({ prepare }),
    answers,
    terminate: (processId) =>
      void withSomeConnection(
        connections.max,
        () => connections.runAlone(terminateProcess, [String(processId)]),
        isLostConnection,
      ),
  }

  const checkOut = (wait: CheckOutOptions): Promise<Connection<Client>> =>
    checkedOut(pool.connect(), wait, (late) => late.release()).then(
      (client) => new PgConnection(client, options, wait),
      (error) => {
        throw explained(error)
      },
    )

  const connections: Connections<Client> = {
    max: pool.options?.max ?? 10,
    checkOut,
    runAlone: (each, values) => runOnGoodOne(() => checkOut({}), each, values),
    join: (tx) => new PgRunner(checkedPgClient(tx)),
    lender: pgLender,
    listen: (channel, heard) => new PgListener(pool, channel, heard).start(),
  }
  return connections
}
