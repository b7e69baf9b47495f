import { JustonceError } from '../../errors/index.ts'
import type { Connections } from './connection.ts'

/** The same pool until `close`, after which it hands out nothing. Connections already handed out end in their own time. */
export function untilClosed<Tx>(open: Connections<Tx>): { connections: Connections<Tx>; close(): void } {
  let isClosed = false
  const check = (): void => {
    if (isClosed) throw new JustonceError('STORE_CLOSED', { message: 'The Postgres store has been closed.' })
  }
  const connections: Connections<Tx> = {
    ...open,
    async checkOut(options) {
      check()
      return await open.checkOut(options)
    },
    async runAlone(statement, values) {
      check()
      return await open.runAlone(statement, values)
    },
    async listen(channel, heard) {
      check()
      return await open.listen(channel, heard)
    },
  }
  return {
    connections,
    close() {
      isClosed = true
    },
  }
}
