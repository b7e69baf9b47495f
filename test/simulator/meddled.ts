import type { SimConnection } from './database/connection.ts'
import { ServerTransaction } from './database/server-transaction.ts'
import { Random } from './random.ts'
import type { Scenario } from './scenario.ts'

/** What somebody else who uses the same pool leaves behind on a connection. */
const traces = ['another place', 'an open transaction', 'an aborted transaction'] as const

export interface Meddling {
  readonly at: number
  readonly leaves: (typeof traces)[number]
}

/** The same world with connections that are kept in a pool, which others use as well, and do not leave as they were. */
export function meddled(scenario: Scenario): Scenario {
  // Of its own: what is drawn here must not change what worlds are like without it.
  const random = new Random(scenario.seed * 40_503 + 13)
  const meddling = Array.from({ length: random.between(3, 12) }, () => ({
    at: random.between(1, 4_000),
    leaves: random.pick(traces),
  }))
  return { ...scenario, meddling }
}

/** On the server's side: the process that has the connection in its pool notices nothing. */
export function meddleWith(connections: readonly SimConnection[], { leaves }: Meddling): void {
  for (const connection of connections)
    connection.change((session) => {
      const { database } = session
      if (leaves === 'another place') session.place = 'elsewhere'
      else {
        const transaction = new ServerTransaction(database.scheduler.now)
        transaction.write('escaped\0what others wrote', {})
        transaction.aborted = leaves === 'an aborted transaction'
        session.transaction = transaction
      }
    })
}
