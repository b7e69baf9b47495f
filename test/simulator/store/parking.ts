import type { ParkedFilter, Parking, StoredParkedMessage } from '../../../src/contracts/index.ts'
import type { Row, Visible } from '../database/sim-database.ts'
import { insertIfAbsent, inTransaction, takeSkippingLocked, update } from '../database/statements.ts'
import { name } from './inbox.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'parked'
type Parked = StoredParkedMessage & Row

export function simParking(context: SimStoreContext): Parking<SimClient> {
  return {
    park: (client, messages) =>
      client.connection.call(
        'park',
        inTransaction(async (tx, session) => {
          for (const { delayMs, ...message } of messages) {
            const row = { ...message, parkedAt: session.database.date(), nextAt: session.database.date(delayMs) }
            await insertIfAbsent(session, tx, table, name(message), row)
          }
        }),
      ),
    takeDue: (client, { limit, handlers }) =>
      client.connection.call(
        'take-due',
        inTransaction(async (tx, session) => {
          const now = session.database.date().getTime()
          const isDue = (row: Row, all: readonly Visible[]) => {
            const parked = row as Parked
            return (
              parked.state === 'waiting' &&
              parked.nextAt.getTime() <= now &&
              handlers.includes(parked.handler) &&
              !isBlocked(parked, all)
            )
          }
          return (await takeSkippingLocked(session, tx, table, limit, isDue)).map(({ row }) => row as Parked)
        }),
      ),
    take: (client, key) =>
      client.connection.call(
        'take',
        inTransaction(async (tx, session) => {
          const isIt = (row: Row) => name(row as Parked) === name(key)
          return (await takeSkippingLocked(session, tx, table, 1, isIt)).map(({ row }) => row as Parked)[0]
        }),
      ),
    change: (client, changes) =>
      client.connection.call(
        'change-parked',
        inTransaction(async (tx, session) => {
          for (const change of changes) {
            await update(session, tx, table, name(change), (row) => {
              if (change.kind === 'done' || row === undefined) return undefined
              const { kind, ...facts } = change
              const delayMs = 'delayMs' in change ? change.delayMs : 0
              const nextAt = session.database.date(delayMs)
              return { ...row, ...facts, state: kind === 'dead' ? 'dead' : 'waiting', nextAt }
            })
          }
        }),
      ),
    list: (filter) => context.read((client) => scan(client, filter)),
    count: (filter) => context.read(async (client) => (await scan(client, filter)).length),
  }
}

function isBlocked(parked: Parked, all: readonly Visible[]): boolean {
  if (parked.independent) return false
  return all.some(({ row }) => {
    const other = row as Parked
    const isSameMessage =
      other.messageId === parked.messageId && other.type === parked.type && other.source === parked.source
    return isSameMessage && other.step < parked.step
  })
}

async function scan(client: SimClient, filter: ParkedFilter = {}): Promise<Parked[]> {
  const { state, handler, limit = Number.POSITIVE_INFINITY } = filter
  const rows = await client.connection.call(
    'read',
    inTransaction((tx, session) => session.database.scan(tx, table)),
  )
  return rows
    .map(({ row }) => row as Parked)
    .filter((row) => (state === undefined || row.state === state) && (handler === undefined || row.handler === handler))
    .slice(0, limit)
}
