import type { PackedMessage } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import type { Connection } from './connection.ts'
import { serverSetting } from './server-setting.ts'

/** No server can be set to take less than this in one argument. */
const leastArgument = 1_048_576
/** What servers take unless they are set otherwise, and about as much as fits into one text in JavaScript. */
const usualArgument = 512 * 1_048_576 - 1_024

/** While an argument is being read, it is in the query buffer of its client, with a little around it. */
const limits = ['proto-max-bulk-len', 'client-query-buffer-limit']
const around = 1_024

/** How large a message can be: envelope and body are one argument each, in base 64. */
export async function largestMessage(connection: Connection): Promise<number> {
  return inBase64(Math.min((await largestArgument(connection)) - around, usualArgument))
}

/**
 * Rejects before anything is sent. The server would end the connection, which looks as if it were unavailable, every time.
 */
export async function checkSizes(connection: Connection, messages: readonly PackedMessage[]): Promise<void> {
  const largest = Math.max(0, ...messages.map(({ envelope, body }) => envelope.length + body.length))
  if (largest <= inBase64(leastArgument - around)) return
  const most = await largestMessage(connection)
  if (largest <= most) return
  throw new JustonceError('STORE_CANNOT', {
    message: `A message has ${largest} bytes, and this Redis keeps at most ${most} (three quarters of its proto-max-bulk-len or client-query-buffer-limit).`,
  })
}

/** The same for what handlers return: a record is one argument, as it is. */
export async function checkResults(connection: Connection, results: readonly string[]): Promise<void> {
  const largest = Math.max(0, ...results.map((result) => Buffer.byteLength(result)))
  if (largest <= leastArgument - around) return
  const most = Math.min((await largestArgument(connection)) - around, usualArgument)
  if (largest <= most) return
  throw new JustonceError('STORE_CANNOT', {
    message: `A result has ${largest} bytes, and this Redis keeps at most ${most} (its proto-max-bulk-len or client-query-buffer-limit).`,
  })
}

async function largestArgument(connection: Connection): Promise<number> {
  try {
    const settings = await Promise.all(limits.map((name) => serverSetting(connection, name)))
    return Math.min(...settings.map((setting) => Number(setting) || usualArgument))
  } catch (error) {
    // A user who may not ask, or a service without this command.
    if (isJustonceError(error) && error.code !== 'STORE_DENIED') throw error
    return usualArgument
  }
}

function inBase64(characters: number): number {
  return Math.floor(characters / 4) * 3
}
