import type { Schema, StoreWarning } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { type Connection, text, texts } from './connection.ts'
import { rightsScript } from './scripts/rights.ts'
import { serverSetting } from './server-setting.ts'

/** A setting of the Redis server by which records may be lost. */
export interface RedisWarning extends StoreWarning {
  readonly code:
    | 'RECORDS_MAY_BE_EVICTED'
    | 'RECORDS_NOT_DURABLE'
    | 'COMMITS_NOT_DURABLE'
    | 'FAILOVER_MAY_LOSE'
    | 'SERVER_NOT_CHECKED'
}

/** Increased when keys change their meaning. */
const format = '1'

export interface SchemaOptions {
  /** Whether handlers write through commands, about which the server must be asked. */
  readonly hasCommands: boolean
  readonly onWarning: (warning: RedisWarning) => void
}

/** There are no tables. The checks cover the user's permissions, the format of the keys, and the server's settings. */
export function redisSchema(connection: Connection, { hasCommands, onWarning }: SchemaOptions): Schema {
  const checkRights = async (): Promise<void> => {
    const denied = texts(await connection.run(rightsScript, hasCommands ? 1 : 0))
    if (denied.length > 0)
      throw new JustonceError('STORE_DENIED', {
        message: `The user of the connection may not call ${denied.join(', ')} on keys below ${connection.prefix}`,
      })
  }
  const check = async (): Promise<void> => {
    await checkRights()
    const found = await connection.call('GET', `${connection.prefix}format`)
    if (found !== null && text(found) !== format) {
      throw new JustonceError(Number(text(found)) > Number(format) ? 'SCHEMA_NEW' : 'SCHEMA_OLD', {
        message: `The keys below ${connection.prefix} have format ${text(found)}, and this version knows ${format}.`,
      })
    }
    for (const warning of await serverWarnings(connection)) onWarning(warning)
  }
  return {
    async install() {
      await checkRights()
      await connection.call('SET', `${connection.prefix}format`, format, 'NX')
      await check()
    },
    check,
    print: () => '-- The Redis store has no tables.\n',
  }
}

/** Empty if records are safe on this server, as far as it says. */
export async function serverWarnings(
  connection: Connection,
  { thorough = false }: { readonly thorough?: boolean } = {},
): Promise<RedisWarning[]> {
  let policy: string | undefined
  let appendonly: string | undefined
  let appendfsync: string | undefined
  let replicas = 0
  try {
    policy = await serverSetting(connection, 'maxmemory-policy')
    appendonly = await serverSetting(connection, 'appendonly')
    appendfsync = await serverSetting(connection, 'appendfsync')
    if (thorough) replicas = await replicasNotWaitedFor(connection)
  } catch (error) {
    if (error instanceof JustonceError && error.code !== 'STORE_DENIED') throw error
    const said = error instanceof JustonceError ? error.cause : error
    const why = said instanceof Error ? said.message : String(said)
    return [warningOf('SERVER_NOT_CHECKED', `CONFIG GET was refused: ${why}.`)]
  }
  const warnings: RedisWarning[] = []
  if (policy !== undefined && policy !== 'noeviction')
    warnings.push(warningOf('RECORDS_MAY_BE_EVICTED', `maxmemory-policy is ${policy}.`))
  if (appendonly !== undefined && appendonly !== 'yes')
    warnings.push(warningOf('RECORDS_NOT_DURABLE', `appendonly is ${appendonly}.`))
  if (appendonly === 'yes' && appendfsync === 'no')
    warnings.push(warningOf('COMMITS_NOT_DURABLE', 'appendfsync is no.'))
  if (replicas > 0)
    warnings.push(warningOf('FAILOVER_MAY_LOSE', `${replicas} replicas follow, and min-replicas-to-write is 0.`))
  return warnings
}

/** Replicas that may take over although the primary does not care whether they keep up. */
async function replicasNotWaitedFor(connection: Connection): Promise<number> {
  const least = await serverSetting(connection, 'min-replicas-to-write')
  if (least === undefined || Number(least) > 0) return 0
  const [, connected = '0'] = /^connected_slaves:(\d+)/m.exec(text(await connection.send('INFO', 'replication'))) ?? []
  return Number(connected)
}

function warningOf(code: RedisWarning['code'], message: string): RedisWarning {
  return { code, message: new JustonceError(code, { message }).message }
}
