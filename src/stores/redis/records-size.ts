import type { RecordsSize } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { type Connection, text } from './connection.ts'

/** Redis knows how many keys there are of all kinds, and what all of them take; on a cluster, this node does. */
export async function recordsSize(connection: Pick<Connection, 'send'>): Promise<RecordsSize> {
  const [keys, memory] = [
    await ifAllowed(() => connection.send('DBSIZE')),
    await ifAllowed(() => connection.send('INFO', 'memory')),
  ]
  const [, used] = /^used_memory:(\d+)/m.exec(memory === undefined ? '' : text(memory)) ?? []
  return {
    rows: keys === undefined ? undefined : Number(keys),
    bytes: used === undefined ? undefined : Number(used),
    of: 'database',
  }
}

/** The user may be denied both, and nothing depends on them. */
async function ifAllowed<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isJustonceError(error, 'STORE_DENIED')) return undefined
    throw error
  }
}
