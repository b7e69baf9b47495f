import type { ParkedFilter, Parking } from '../../contracts/index.ts'
import { bytesArray, type Cell, numberArray, textArray } from './cells.ts'
import { keyArrays } from './claim.ts'
import type { ConnectionSource } from './connection.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { parkedIn, parkingStatements } from './parking-statements.ts'
import type { Tables } from './tables.ts'

export function postgresParking<Tx>(
  source: Pick<ConnectionSource<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  tables: Tables,
): Parking<Tx> {
  const statements = parkingStatements(tables)
  return {
    async park(tx, messages) {
      if (messages.length === 0) return
      const texts = (pick: (message: (typeof messages)[number]) => string) => textArray(messages.map(pick))
      await transactions
        .runner(tx)
        .run(statements.park, [
          ...keyArrays(messages),
          texts(({ messageId }) => messageId),
          texts(({ type }) => type),
          texts(({ source: from }) => from),
          texts(({ state }) => state),
          texts(({ reason }) => reason),
          texts(({ errors }) => errors),
          numberArray(messages.map(({ attempts }) => attempts)),
          numberArray(messages.map(({ step }) => step)),
          textArray(messages.map(({ independent }) => String(independent))),
          numberArray(messages.map(({ delayMs }) => delayMs)),
          bytesArray(messages.map(({ message }) => message.envelope)),
          bytesArray(messages.map(({ message }) => message.body)),
        ])
    },
    async takeDue(tx, { limit, handlers }) {
      const { rows } = await transactions
        .get(tx)
        .connection.run(statements.takeDue, [String(limit), textArray(handlers)])
      return rows.map(parkedIn)
    },
    async take(tx, { handler, key }) {
      const { rows } = await transactions.get(tx).connection.run(statements.take, [handler, key])
      return rows[0] && parkedIn(rows[0])
    },
    async change(tx, changes) {
      const runner = transactions.runner(tx)
      const done = changes.filter(({ kind }) => kind === 'done')
      const kept = changes.filter((change) => change.kind !== 'done')
      if (done.length > 0) await runner.run(statements.remove, keyArrays(done))
      if (kept.length === 0) return
      await runner.run(statements.change, [
        ...keyArrays(kept),
        textArray(kept.map(({ kind }) => (kind === 'again' ? 'waiting' : 'dead'))),
        numberArray(kept.map(({ attempts }) => attempts)),
        textArray(kept.map(({ reason }) => reason)),
        textArray(kept.map(({ errors }) => errors)),
        numberArray(kept.map((change) => (change.kind === 'again' ? change.delayMs : undefined))),
      ])
    },
    async list(filter = {}) {
      const { rows } = await source.runAlone(statements.list, [...filterValues(filter), String(filter.limit ?? 1_000)])
      return rows.map(parkedIn)
    },
    async count(filter = {}) {
      const { rows } = await source.runAlone(statements.count, filterValues(filter))
      return Number(rows[0]?.[0])
    },
  }
}

function filterValues({ state, handler }: ParkedFilter): Cell[] {
  return [state ?? null, handler ?? null]
}
