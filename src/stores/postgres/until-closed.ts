import { JustonceError } from '../../errors/index.ts'
import { rejected } from '../sql/rejected.ts'
import type { Connections } from './connection.ts'

/** The same pool until `close`, after which it hands out nothing. Connections already handed out end in their own time. */
export function untilClosed<Tx>(open: Connections<Tx>): { connections: Connections<Tx>; close(): void } {
  let isClosed = false
  const refusal = (): Promise<never> | undefined =>
    isClosed
      ? rejected(new JustonceError('STORE_CLOSED', { message: 'The Postgres store has been closed.' }))
      : undefined
  const connections: Connections<Tx> = {
    ...open,
    checkOut: (options) => refusal() ?? open.checkOut(options),
    runAlone: (statement, values) => refusal() ?? open.runAlone(statement, values),
    listen: (channel, heard) => refusal() ?? open.listen(channel, heard),
  }
  return {
    connections,
    close() {
      isClosed = true
    },
  }
}
