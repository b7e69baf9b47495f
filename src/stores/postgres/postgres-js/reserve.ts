import type { PostgresJsClientShape, PostgresJsShape } from '../client-shapes.ts'
import { sqlState } from '../errors.ts'

/** How long a reservation may take before we check whether postgres.js has forgotten it. */
const patienceMs = 50

/**
 * Reserves a connection of postgres.js. A reservation waits forever after `sql.end()`, and also if a connection is lost
 * while it waits. A query does neither, and if all connections are merely in use, a later query is not served before the
 * reservation. So if a query succeeds, the reservation is made once more.
 */
export function reserver<Sql extends PostgresJsShape>(
  sql: PostgresJsClientShape<Sql>,
  ask: () => Promise<unknown>,
): () => Promise<Sql> {
  let asking: Promise<unknown> | undefined

  /** Whatever the server answers, the query has reached it. */
  async function answered(): Promise<void> {
    await ask().catch((error) => {
      if (sqlState(error) === undefined) throw error
    })
  }

  function goesThrough(): Promise<unknown> {
    asking ??= answered().finally(() => {
      asking = undefined
    })
    return asking
  }

  return () =>
    new Promise((resolve, reject) => {
      let isSettled = false
      let timer: NodeJS.Timeout | undefined
      const settle = (): void => {
        isSettled = true
        clearTimeout(timer)
      }
      const fail = (error: unknown): void => {
        settle()
        reject(error)
      }
      const take = (reserved: Sql): void => {
        if (!isSettled) {
          settle()
          resolve(reserved)
        } else {
          // The forgotten reservation was served after all.
          reserved.release()
        }
      }
      const reserve = (): void => {
        if (isSettled) return
        sql.reserve().then(take, fail)
        timer = setTimeout(() => goesThrough().then(reserve, fail), patienceMs)
      }
      if (sql.options.fetch_types !== false) reserve()
      // Without fetch_types a connection that is opened for a reservation is never handed out. So a query opens it.
      else answered().then(reserve, fail)
    })
}
