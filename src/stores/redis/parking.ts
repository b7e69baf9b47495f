import type { BehindOptions, OrderScope, Parking, StoredParkedMessage } from '../../contracts/index.ts'
import { type Connection, texts } from './connection.ts'
import { editRows } from './edit-rows.ts'
import { checkSizes } from './message-limit.ts'
import { pairName, rowName } from './names.ts'
import { readRow } from './parked-row.ts'
import { listRows, tallyFound } from './parked-search.ts'
import { blockedScript, rebookScript, reserveBehindScript, reserveScript, takeScript } from './scripts/parking.ts'
import type { Transaction } from './transaction.ts'
import type { Transactions } from './transactions.ts'
import { answersInOrder } from './wait-for-rivals.ts'

export function redisParking<Tx extends object>(transactions: Transactions<Tx>): Parking<Tx> {
  const { connection, factory, leaseMs } = transactions
  return {
    async park(tx, messages) {
      const { steps } = factory.transactionOf(tx)
      await checkSizes(
        connection,
        messages.map(({ message }) => message),
      )
      for (const message of messages) steps.push({ kind: 'park', message })
    },
    async reserve(options) {
      if (options.behind !== undefined) return await reserveBehind(connection, options)
      const { limit, forMs, wanted, pastDead, maxBytes } = options
      if (wanted.length === 0 || limit < 1) return []
      const pairs = wanted.flatMap(({ handler, type }) => [handler, type === undefined ? '' : `=${type}`])
      const args = [limit, Math.ceil(forMs), maxBytes, wanted.length, ...pairs, ...pastDead]
      const rows = (await connection.run(reserveScript, ...args)) as unknown[]
      return rows.map((row) => readRow(row) as StoredParkedMessage)
    },
    async rebook(bookings, forMs) {
      if (bookings.length === 0) return []
      const asked = bookings.flatMap((booking) => [rowName(booking), booking.revision, booking.begun])
      const answers = (await connection.run(rebookScript, Math.ceil(forMs), ...asked)) as unknown[]
      return answers.map((revision) => (Number(revision) === 0 ? undefined : Number(revision)))
    },
    async take(tx, tickets) {
      const transaction = factory.transactionOf(tx)
      if (tickets.length === 0) return []
      const asked = tickets.flatMap((ticket) => [rowName(ticket), ticket.revision])
      for (const ticket of tickets) transaction.asked.locks.add(`row:${rowName(ticket)}`)
      const answers = (await connection.run(takeScript, transaction.token, leaseMs, ...asked)) as unknown[]
      return tickets.map((ticket, place) => {
        const isOurs = Number(answers[place]) === 1
        if (isOurs) transaction.locks.add(`row:${rowName(ticket)}`)
        return isOurs
      })
    },
    async change(tx, changes) {
      const { steps } = factory.transactionOf(tx)
      for (const change of changes) steps.push({ kind: 'change', change })
    },
    async blocked(tx, scopes) {
      const transaction = factory.transactionOf(tx)
      const own = ownChanges(transaction)
      const rows = await answersInOrder(transaction, scopes, async (left) => {
        const asked = left.flatMap((scope) => [nameOf(scope), scope.pastDead ? 1 : 0])
        for (const scope of left) transaction.asked.locks.add(`scope:${nameOf(scope)}`)
        // One more than this transaction itself may have removed.
        const howMany = own.gone.size + own.dead.size + 1
        const answers = (await connection.run(
          blockedScript,
          transaction.token,
          leaseMs,
          howMany,
          ...asked,
        )) as unknown[]
        for (const scope of left.slice(0, answers.length)) transaction.locks.add(`scope:${nameOf(scope)}`)
        return answers.map(texts)
      })
      return scopes.map((scope, place) => {
        const left = (rows[place] ?? []).filter((row) => !own.gone.has(row) && !(scope.pastDead && own.dead.has(row)))
        const parked = own.scopes.get(nameOf(scope))
        return left.length > 0 || parked === 'waiting' || (parked === 'dead' && !scope.pastDead)
      })
    },
    list: (filter = {}, page = {}) => listRows(connection, filter, page),
    tally: (filter, by, limit) => tallyFound(connection, filter, by, limit),
    async edit(tx, filter, edit, limit) {
      const transaction = factory.transactionOf(tx)
      if (edit.kind === 'replace') await checkSizes(connection, [edit.message])
      return await editRows(transactions, transaction, filter, { edit, limit })
    },
  }
}

async function reserveBehind(
  connection: Connection,
  { behind, limit, maxBytes, forMs, pastDead }: BehindOptions,
): Promise<StoredParkedMessage[]> {
  const args = [rowName(behind), behind.revision, limit, Math.ceil(forMs), maxBytes, pastDead ? 1 : 0]
  const rows = (await connection.run(reserveBehindScript, ...args)) as unknown[]
  return rows.map((row) => readRow(row) as StoredParkedMessage)
}

function nameOf({ handler, orderKey }: OrderScope): string {
  return pairName(handler, orderKey)
}

interface OwnChanges {
  readonly gone: ReadonlySet<string>
  readonly dead: ReadonlySet<string>
  readonly scopes: ReadonlyMap<string, 'waiting' | 'dead'>
}

/** The changes that this transaction has made to rows and nobody else can see yet. */
function ownChanges({ steps }: Transaction): OwnChanges {
  const gone = new Set<string>()
  const dead = new Set<string>()
  const scopes = new Map<string, 'waiting' | 'dead'>()
  for (const step of steps) {
    if (step.kind === 'park' && step.message.orderKey !== undefined) {
      const { handler, orderKey, state } = step.message
      const scope = pairName(handler, orderKey)
      if (state === 'waiting' || !scopes.has(scope)) scopes.set(scope, state)
    }
    if (step.kind !== 'change') continue
    if (step.change.kind === 'done') gone.add(rowName(step.change))
    if (step.change.kind === 'dead') dead.add(rowName(step.change))
  }
  return { gone, dead, scopes }
}
