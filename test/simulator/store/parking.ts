import type {
  BehindOptions,
  DueOptions,
  OrderScope,
  ParkedEdit,
  ParkedMessage,
  ParkedTicket,
  Parking,
  RecordKey,
  StoredParkedMessage,
} from '../../../src/contracts/index.ts'
import { tallyRows } from '../../../src/stores/shared/tally-rows.ts'
import type { Session } from '../database/connection.ts'
import type { ServerTransaction } from '../database/server-transaction.ts'
import type { Row, Visible } from '../database/sim-database.ts'
import { SimError } from '../database/sim-error.ts'
import { insertIfAbsent, inTransaction, lockIfFree, takeSkippingLocked, update } from '../database/statements.ts'
import { name } from './inbox.ts'
import {
  byDueTime,
  fits,
  holdsUp,
  type Parked,
  scanParked,
  parkedTable as table,
  waitsForOrder,
  waitsForStep,
} from './parked-rows.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'
import { withinBytes } from './within-bytes.ts'

export function simParking(context: SimStoreContext): Parking<SimClient> {
  const reserveBehind = ({ behind: head, limit, maxBytes, forMs, pastDead }: BehindOptions) =>
    context.read((client) =>
      client.connection.call(
        'follow',
        inTransaction(async (tx, session) => {
          const first = await lockTicket(tx, session, head)
          if (first?.orderKey === undefined) return []
          const { handler, orderKey, sequence } = first
          const all = session.database.scan(tx, table)
          const behind: Parked[] = []
          for (const row of scanParked(tx, session)) {
            if (row.sequence <= sequence || !holdsUp(row, { handler, orderKey, pastDead })) continue
            const isNext = row.state === 'waiting' && row.nextAt <= session.database.date() && !waitsForStep(row, all)
            if (!isNext || behind.length >= limit || !(await lockTicket(tx, session, row))) break
            behind.push(row)
          }
          return await reserveRows(tx, session, withinBytes(behind, maxBytes), forMs)
        }),
      ),
    )
  const reserveDue = ({ limit, forMs, wanted, pastDead, maxBytes }: DueOptions) =>
    context.read((client) =>
      client.connection.call(
        'reserve',
        inTransaction(async (tx, session) => {
          const { database } = session
          const isDue = (row: Row, all: readonly Visible[]) => {
            const parked = row as Parked
            if (parked.state !== 'waiting' || parked.nextAt > database.date()) return false
            if (!wanted.some(({ handler, type = parked.type }) => handler === parked.handler && type === parked.type))
              return false
            return !waitsForStep(parked, all) && !waitsForOrder(parked, all, pastDead)
          }
          const found = await takeSkippingLocked(session, tx, table, limit, isDue, byDueTime)
          return await reserveRows(
            tx,
            session,
            withinBytes(
              found.map(({ row }) => row as Parked),
              maxBytes,
            ),
            forMs,
          )
        }),
      ),
    )
  return {
    park: (client, messages) =>
      client.write(
        'park',
        inTransaction(async (tx, session) => {
          const { database } = session
          for (const { delayMs, dueAt, ...message } of messages) {
            refuseUnfit(message, context.messageBytes)
            const row = {
              ...message,
              sequence: database.nextNumber(),
              revision: database.nextNumber(),
              begun: 0,
              parkedAt: database.date(),
              changedAt: database.date(),
              nextAt: dueAt ?? database.date(delayMs),
              originalBody: message.originalBody,
              redrive: message.redrive,
              released: message.redrive !== undefined,
            }
            await insertIfAbsent(session, tx, table, name(message), row)
          }
        }),
      ),
    reserve: (options) => (options.behind === undefined ? reserveDue(options) : reserveBehind(options)),
    rebook: (bookings, forMs) =>
      context.read((client) =>
        client.connection.call(
          'rebook',
          inTransaction(async (tx, session) => {
            const revisions: (number | undefined)[] = []
            for (const booking of bookings) {
              const row = await lockTicket(tx, session, booking)
              const nextAt = session.database.date(forMs)
              const now = row && changed(row, session, { begun: booking.begun, nextAt })
              if (now !== undefined) await update(session, tx, table, name(booking), () => now)
              revisions.push(now?.revision)
            }
            return revisions
          }),
        ),
      ),
    take: (client, tickets) =>
      client.connection.call(
        'take',
        inTransaction(async (tx, session) => {
          const taken: boolean[] = []
          for (const ticket of tickets) taken.push((await lockTicket(tx, session, ticket)) !== undefined)
          return taken
        }),
      ),
    change: (client, changes) =>
      client.write(
        'change-parked',
        inTransaction(async (tx, session) => {
          const changedAt = session.database.date()
          for (const change of changes) {
            await update(session, tx, table, name(change), (row) => {
              if (change.kind === 'done' || row === undefined) return undefined
              const { kind, handler, key, ...facts } = change
              const state = kind === 'dead' ? 'dead' : 'waiting'
              const step = (change.kind === 'dead' ? change.step : undefined) ?? (row as Parked).step
              const nextAt = session.database.date(change.kind === 'again' ? change.delayMs : 0)
              return changed(row as Parked, session, { ...facts, step, state, nextAt, changedAt, begun: 0 })
            })
          }
        }),
      ),
    async blocked(client, scopes) {
      await client.connection.call(
        'lock-order',
        inTransaction(async (tx, session) => {
          for (const { orderKey } of scopes) refuseText(orderKey)
          for (const scope of scopes) await session.database.lock(tx, 'order', scopeName(scope), session.lockTimeoutMs)
        }),
      )
      // A second statement, as on a real server: only it sees what the holders of the locks have committed.
      return await client.connection.call(
        'look-at-order',
        inTransaction((tx, session) => {
          const rows = scanParked(tx, session)
          return scopes.map((scope) => rows.some((row) => holdsUp(row, scope)))
        }),
      )
    },
    list: (filter = {}, { limit = 1_000, after = 0, maxBytes = Number.POSITIVE_INFINITY } = {}) =>
      context.read(async (client) => {
        const rows = (await scan(client)).filter((row) => row.sequence > after && fits(row, filter))
        return withinBytes(rows.slice(0, limit), maxBytes)
      }),
    tally: (filter, by, limit) =>
      context.read(async (client) =>
        tallyRows(
          (await scan(client)).filter((row) => fits(row, filter)),
          by,
          limit,
        ),
      ),
    edit: (client, filter, edit, limit) =>
      client.connection.call(
        'edit-parked',
        inTransaction(async (tx, session) => {
          const edited: RecordKey[] = []
          for (const { handler, key } of scanParked(tx, session).filter((row) => fits(row, filter))) {
            if (edited.length >= limit) break
            const row = await lockIfFree(session, tx, table, name({ handler, key }), (row) =>
              fits(row as Parked, filter),
            )
            if (row === undefined) continue
            await update(session, tx, table, name({ handler, key }), () => editedRow(row as Parked, session, edit))
            edited.push({ handler, key })
          }
          return edited
        }),
      ),
  }
}

function editedRow(row: Parked, session: Session, edit: ParkedEdit): Parked | undefined {
  const now = session.database.date()
  switch (edit.kind) {
    case 'remove':
      return undefined
    case 'mark':
      return { ...row, redrive: edit.redrive, released: false }
    case 'release': {
      const life = { state: 'waiting', attempts: 0, begun: 0 } as const
      return changed(row, session, { ...life, released: true, nextAt: now, changedAt: now })
    }
    case 'replace':
      return changed(row, session, { message: edit.message, originalBody: row.originalBody ?? row.message.body })
  }
}

function changed(row: Parked, session: Session, facts: Partial<Parked>): Parked {
  return { ...row, ...facts, revision: session.database.nextNumber() } as Parked
}

async function reserveRows(
  tx: ServerTransaction,
  session: Session,
  rows: readonly Parked[],
  forMs: number,
): Promise<StoredParkedMessage[]> {
  const reserved: StoredParkedMessage[] = []
  for (const row of rows) {
    const now = changed(row, session, { nextAt: session.database.date(forMs) })
    await update(session, tx, table, name(row), () => now)
    reserved.push(now)
  }
  return reserved
}

async function lockTicket(tx: ServerTransaction, session: Session, ticket: ParkedTicket): Promise<Parked | undefined> {
  const isSame = (row: Row) => row.revision === ticket.revision
  return (await lockIfFree(session, tx, table, name(ticket), isSame)) as Parked | undefined
}

function scan(client: SimClient): Promise<Parked[]> {
  return client.connection.call(
    'read',
    inTransaction((tx, session) => scanParked(tx, session)),
  )
}

/** As a real database does: no NUL, no more than the column is wide, no more than a packet holds. */
function refuseUnfit({ message, ...row }: ParkedMessage, messageBytes = Number.POSITIVE_INFINITY): void {
  for (const text of Object.values(row).filter((each) => typeof each === 'string' && each !== row.errors))
    refuseText(text as string)
  if (message.envelope.length + message.body.length > messageBytes)
    throw new SimError('constraint', `a message of ${message.body.length} bytes`)
}

function refuseText(text: string): void {
  if (text.includes('\0') || text.length > 300) throw new SimError('constraint', `a text of ${text.length} characters`)
}

function scopeName({ handler, orderKey }: OrderScope): string {
  return JSON.stringify([handler, orderKey])
}
