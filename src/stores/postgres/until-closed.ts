import { JustonceError } from '../../errors/index.ts'
import type { ConnectionSource } from './connection.ts'

/** The same source until `close`, after which it hands out no connections. Those already handed out end in their own time. */
export function untilClosed<Tx>(open: ConnectionSource<Tx>): { source: ConnectionSource<Tx>; close(): void } {
  let isClosed = false
  const check = (): void => {
    if (isClosed) throw new JustonceError('STORE_CLOSED', { message: 'The Postgres store has been closed.' })
  }
  const source: ConnectionSource<Tx> = {
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
    source,
    close() {
      isClosed = true
    },
  }
}
