import type { Inbox, InboxRecord } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { textArray, textIn } from './cells.ts'
import { claimAll, keyArrays, recordIn, stateCodes } from './claim.ts'
import type { ConnectionSource } from './connection.ts'
import { sqlState } from './errors.ts'
import type { InboxStatements } from './inbox-statements.ts'
import type { OpenTransactions } from './open-transaction.ts'

export interface InboxParts<Tx> {
  readonly source: Pick<ConnectionSource<Tx>, 'runAlone'>
  readonly transactions: OpenTransactions<Tx>
  readonly statements: InboxStatements
}

export function postgresInbox<Tx>({ source, transactions, statements }: InboxParts<Tx>): Inbox<Tx> {
  const habit = { mostlyKnown: false }
  return {
    async claim(tx, requests) {
      const transaction = transactions.get(tx)
      const { connection } = transaction
      const claim = connection.skipsAfterFailure ? statements.claim : statements.claimIfOpen
      const { existing } =
        requests.length === 0
          ? { existing: [] }
          : await claimAll(connection, { look: statements.look, claim, habit }, requests)
      return { epoch: await transaction.epoch(), existing }
    },
    async release(tx, keys) {
      if (keys.length > 0) await transactions.runner(tx).run(statements.release, keyArrays(keys))
    },
    async update(tx, changes) {
      if (changes.length === 0) return
      const states = textArray(changes.map(({ state }) => stateCodes[state]))
      const results = textArray(changes.map(({ result }) => result))
      await transactions.runner(tx).run(statements.update, [...keyArrays(changes), states, results])
    },
    async find({ handler, key }) {
      const { rows } = await source.runAlone(statements.find, [handler, key])
      return rows[0] && recordIn(rows[0])
    },
    async findMany(keys) {
      const found: (InboxRecord | undefined)[] = keys.map(() => undefined)
      if (keys.length === 0) return found
      const { rows } = await source.runAlone(statements.look, keyArrays(keys))
      for (const row of rows) found[Number(row[0]) - 1] = recordIn(row, 1)
      return found
    },
    async forget(tx, { handler, key }) {
      const { count } = await transactions.runner(tx).run(statements.forget, [handler, key])
      return count > 0
    },
  }
}

/** The same records, claimed inside a transaction of the caller. */
export function joinedInbox<Tx>(inbox: Inbox<Tx>, { transactions, statements }: InboxParts<Tx>): Inbox<Tx> {
  const habit = { mostlyKnown: false }
  return {
    ...inbox,
    async claim(tx, requests) {
      try {
        const runner = transactions.runner(tx)
        if (requests.length === 0)
          return { epoch: textIn((await runner.run(statements.epoch, [])).rows[0]?.[0]), existing: [] }
        const { existing, epoch } = await claimAll(
          runner,
          { look: statements.look, claim: statements.claimJoined, habit },
          requests,
        )
        return { epoch: textIn(epoch ?? (await runner.run(statements.epoch, [])).rows[0]?.[0]), existing }
      } catch (error) {
        if (sqlState(error) !== '40001') throw error
        throw new JustonceError('ISOLATION_TOO_STRICT', {
          message: 'A rival has claimed the same key after the snapshot of this transaction was taken.',
          cause: error,
        })
      }
    },
  }
}
