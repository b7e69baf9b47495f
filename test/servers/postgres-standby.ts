import { join } from 'node:path'
import { freePort, localhost } from './address.ts'
import { type OwnServer, startOwnServer } from './own-server.ts'
import { type PostgresServer, postgres, settingArgs } from './postgres.ts'
import { withClient } from './postgres-databases.ts'
import { startProxy } from './proxy.ts'

export interface PostgresStandby extends OwnServer {
  readonly port: number
  /** From now on the primary's commits do not arrive any more. They do not wait for it: the standby is asynchronous. */
  cutOff(): Promise<void>
  /** Resolves when it takes writes. */
  promote(): Promise<void>
}

/** A copy of the server that follows it. */
export async function startStandby(primary: PostgresServer): Promise<PostgresStandby> {
  const port = await freePort()
  const link = await startProxy(localhost, primary.port)
  const url = `postgresql://postgres@${localhost}:${port}/postgres`
  const server = await startOwnServer(postgres, {
    url,
    user: 'postgres',
    endSignal: 'SIGINT',
    stopSignal: 'SIGQUIT',
    prepare(folder, binaries) {
      const data = join(folder.path, 'data')
      const from = ['--host', link.host, '--port', String(link.port), '--username', 'postgres']
      // It writes down where it got the copy from, and the standby follows that.
      const how = ['--write-recovery-conf', '--wal-method=stream', '--checkpoint=fast', '--no-sync']
      return {
        setUp: [binaries.pg_basebackup!, ...from, ...how, '--pgdata', data],
        start: [binaries.postgres!, '-D', data, ...settingArgs(port)],
      }
    },
  }).catch(async (error: unknown) => {
    await link.stop()
    throw error
  })
  return {
    ...server,
    port,
    async cutOff() {
      await link.refuse()
      link.cutAll()
    },
    promote: () => withClient(url, async (client) => void (await client.query('SELECT pg_promote()'))),
    async stop() {
      await server.stop()
      await link.stop()
    },
  }
}
