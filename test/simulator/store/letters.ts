import type { GroupTally, LetterGroup, Letters, RecordKey } from '../../../src/contracts/index.ts'
import type { Row } from '../database/sim-database.ts'
import { inTransaction, lockIfFree, update } from '../database/statements.ts'
import { name } from './inbox.ts'
import { fits, type Parked, scanParked, parkedTable as table } from './parked-rows.ts'
import { changed } from './parking.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const isDead = (row: Row): boolean => row.state === 'dead'

export function simLetters(context: SimStoreContext): Letters<SimClient> {
  return {
    groups: (filter, limit) =>
      context.read((client) =>
        client.connection.call(
          'read',
          inTransaction((tx, session) => {
            const dead = scanParked(tx, session).filter((row) => isDead(row) && fits(row, filter))
            return [...Map.groupBy(dead, groupName)]
              .map(([, rows]) => counted(rows))
              .sort((a, b) => b.count - a.count)
              .slice(0, limit)
          }),
        ),
      ),
    discard: (client, filter, limit) =>
      client.connection.call(
        'discard',
        inTransaction(async (tx, session) => {
          const gone: RecordKey[] = []
          for (const row of scanParked(tx, session)) {
            if (gone.length >= limit) break
            if (!fits(row, filter)) continue
            if ((await lockIfFree(session, tx, table, name(row), isDead)) === undefined) continue
            await update(session, tx, table, name(row), () => undefined)
            gone.push({ handler: row.handler, key: row.key })
          }
          return gone
        }),
      ),
    replace: (client, key, message) =>
      client.connection.call(
        'replace',
        inTransaction(async (tx, session) => {
          const row = (await lockIfFree(session, tx, table, name(key), isDead)) as Parked | undefined
          if (row === undefined) return false
          const originalBody = row.originalBody ?? row.message.body
          await update(session, tx, table, name(key), () => changed(row, session, { message, originalBody }))
          return true
        }),
      ),
  }
}

function groupName({ handler, reason, shape }: LetterGroup): string {
  return JSON.stringify([handler, reason, shape])
}

function counted(rows: readonly Parked[]): GroupTally {
  const { handler, reason, shape } = rows[0] as Parked
  return {
    handler,
    reason,
    shape,
    count: rows.length,
    firstAt: new Date(Math.min(...rows.map(({ parkedAt }) => parkedAt.getTime()))),
    lastAt: new Date(Math.max(...rows.map(({ changedAt }) => changedAt.getTime()))),
  }
}
