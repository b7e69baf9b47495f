import type { Schema } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { type Connection, text } from './connection.ts'

export interface RedisWarning {
  readonly code: 'RECORDS_MAY_BE_EVICTED' | 'RECORDS_NOT_DURABLE' | 'SERVER_NOT_CHECKED'
  readonly message: string
}

/** Raised when keys change their meaning. */
const format = '1'

/** There are no tables; what has to fit is the format of the keys, and how the server is set up. */
export function redisSchema(connection: Connection, onWarning: (warning: RedisWarning) => void): Schema {
  const check = async (): Promise<void> => {
    const found = await connection.send('GET', `${connection.prefix}format`)
    if (found !== null && text(found) !== format) {
      throw new JustonceError(Number(text(found)) > Number(format) ? 'SCHEMA_NEW' : 'SCHEMA_OLD', {
        message: `The keys below ${connection.prefix} have format ${text(found)}, and this version knows ${format}.`,
      })
    }
    await warn(connection, onWarning)
  }
  return {
    async install() {
      await connection.send('SET', `${connection.prefix}format`, format, 'NX')
      await check()
    },
    check,
    print: () => '-- The Redis store has no tables.\n',
  }
}

async function warn(connection: Connection, onWarning: (warning: RedisWarning) => void): Promise<void> {
  let policy: string | undefined
  let appendonly: string | undefined
  try {
    policy = await setting(connection, 'maxmemory-policy')
    appendonly = await setting(connection, 'appendonly')
  } catch (error) {
    if (error instanceof JustonceError) throw error
    const why = error instanceof Error ? error.message : String(error)
    onWarning({ code: 'SERVER_NOT_CHECKED', message: `CONFIG GET was refused: ${why}.` })
    return
  }
  if (policy !== undefined && policy !== 'noeviction')
    onWarning({ code: 'RECORDS_MAY_BE_EVICTED', message: `maxmemory-policy is ${policy}.` })
  if (appendonly !== undefined && appendonly !== 'yes')
    onWarning({ code: 'RECORDS_NOT_DURABLE', message: `appendonly is ${appendonly}.` })
}

/** Clients answer with an array or, newer ones, with an object or a map. */
async function setting(connection: Connection, name: string): Promise<string | undefined> {
  const reply = await connection.send('CONFIG', 'GET', name)
  if (Array.isArray(reply)) return reply[1] === undefined ? undefined : text(reply[1])
  if (reply instanceof Map) return reply.has(name) ? text(reply.get(name)) : undefined
  const value = (reply as Record<string, unknown> | null)?.[name]
  return value === undefined ? undefined : text(value)
}
