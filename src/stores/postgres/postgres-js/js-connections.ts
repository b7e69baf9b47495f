import { type CheckOutOptions, checkedOut } from '../../sql/checked-out.ts'
import { checkedSql } from '../check-client.ts'
import type { PostgresJsClientShape, PostgresJsShape } from '../client-shapes.ts'
import type { Connection, ConnectionSettings, Connections } from '../connection.ts'
import { explained, isBadSession } from '../errors.ts'
import { Names } from '../names.ts'
import { mustBegin, readingCommitted, runOnGoodOne } from '../transactions/run-alone.ts'
import { JsConnection } from './js-connection.ts'
import { JsRunner } from './js-runner.ts'
import { sqlLender } from './lent-sql.ts'
import { reserver } from './reserve.ts'

/** Connections from the `sql` of postgres.js. */
export function jsConnections<Sql extends PostgresJsShape>(
  sql: PostgresJsClientShape<Sql>,
  { prepare, answers }: ConnectionSettings,
): Connections<Sql> {
  const names = new Names({ prepare })
  const alone = new JsRunner(sql, undefined, {}, answers)
  const reserve = reserver(sql, () => alone.script('SELECT 1'))

  async function checkOut(wait: CheckOutOptions): Promise<Connection<Sql>> {
    try {
      const reserved = await checkedOut(reserve(), wait, (late) => late.release())
      return new JsConnection(reserved, names, answers, wait)
    } catch (error) {
      throw explained(error)
    }
  }

  return {
    max: sql.options.max,
    checkOut,
    async runAlone(statement, values) {
      try {
        return await alone.runAlone(statement, values)
      } catch (error) {
        if (isBadSession(error)) return await runOnGoodOne(() => checkOut({}), statement, values)
        if (!mustBegin(error)) throw error
        return await readingCommitted(await checkOut({}), statement, values)
      }
    },
    join: (tx) => new JsRunner(checkedSql(tx)),
    lender: (tx, connection, site) => sqlLender(tx, connection as JsConnection<Sql> | undefined, site),
    async listen(channel, heard) {
      let isFirst = true
      const onListen = (): void => {
        if (!isFirst) heard(undefined)
        isFirst = false
      }
      const { unlisten } = await sql.listen(channel, heard, onListen)
      return unlisten
    },
  }
}
