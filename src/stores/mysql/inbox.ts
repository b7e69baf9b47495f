import type { ClaimAnswer, Inbox, RecordKey } from '../../contracts/index.ts'
import { splitChanges } from '../../encoding/split-changes.ts'
import { type ClaimHabit, type ClaimOptions, claimAll, look, nameOf } from './claim.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { epochAndHorizon, Identities, type Seen, toldIn } from './epoch.ts'
import { deadlock, errorNumber } from './errors.ts'
import { bytes, nowMs } from './literals-and-cells.ts'
import { newEpoch } from './migrations/index.ts'
import { mark, type OpenTransactions } from './open-transaction.ts'
import type { Answer, Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByKey, givenRows, handlerValue, inChunks, inGroups, isOneOf, keyValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

export interface InboxParts<Native extends MysqlConnectionShape> {
  readonly short: ShortTransactions<Native>
  readonly transactions: OpenTransactions<Native>
  readonly tables: Tables
}

/** On each turn the transaction that stood in the way was rolled back, so this cannot go on for long. */
const mostTurns = 20

export function mysqlInbox<Native extends MysqlConnectionShape>(parts: InboxParts<Native>): Inbox<Native> {
  const { short, transactions, tables } = parts
  const { inbox, meta } = tables
  const habit: ClaimHabit = { mostlyKnown: false }
  const identities = new Identities(tables)
  return {
    async claim(tx, requests) {
      const transaction = transactions.find(tx)
      if (transaction === undefined) {
        const joined = transactions.joined(tx)
        const read = async () => joinedEpoch((await joined.run(epochAndHorizon(tables))).rows)
        return await claimOn(joined, { requests, read, before: joined.claims })
      }
      const { connection } = transaction
      for (let turn = 1; ; turn++) {
        try {
          const recalled = identities.recall(connection)
          const read = () => identities.read(connection)
          return await claimOn(transaction, { requests, recalled, read, before: transaction.claims }, connection)
        } catch (error) {
          // If several transactions wait for one that is rolled back, InnoDB makes all but one of them deadlock victims. The
          // transaction is gone, but so far nothing else was in it.
          if (errorNumber(error) !== deadlock || transaction.touched || turn === mostTurns) throw error
          await connection.run(`SAVEPOINT ${mark}`)
        }
      }
    },
    async update(tx, changes) {
      const runner = transactions.runner(tx)
      const { unclaimed, kept } = splitChanges(changes)
      for (const group of inGroups(unclaimed))
        await runner.run(`DELETE known FROM ${foundByKey(inbox, 'PRIMARY', group)}`)
      const rows = kept.map(
        ({ handler, key, state, result }) => `${handlerValue(handler)}, ${keyValue(key)}, '${state}', ${bytes(result)}`,
      )
      for (const chunk of inChunks(rows)) {
        const given = givenRows(
          ['handler', '`key`', 'state', 'result'],
          chunk.map((row) => row.split(', ')),
        )
        await runner.run(
          `UPDATE ${given} STRAIGHT_JOIN ${inbox} AS known FORCE INDEX (PRIMARY)
             ON known.handler = given.handler AND known.\`key\` = given.\`key\`
           SET known.processed_at = ${nowMs}, known.state = given.state, known.result = given.result`,
        )
      }
    },
    async find(keys) {
      const { records } = await look({ run: onceRead }, inbox, keys, { locked: false })
      return keys.map((key) => records.get(nameOf(key)))
    },
    async forget(tx, keys) {
      const runner = transactions.runner(tx)
      let removed = 0
      for (const key of keys)
        removed += (await runner.run(`DELETE FROM ${inbox} WHERE ${isOneOf([key])} AND state <> 'parked'`)).count
      await runner.run(`UPDATE ${meta} SET epoch = ${newEpoch()}`)
      return removed
    },
  }

  /** By default on itself; a claim of our own transaction does not count as something done in it. */
  async function claimOn(
    into: Runner & { claimed(token: string, keys: readonly RecordKey[]): void },
    options: Omit<ClaimOptions, 'habit'>,
    runner: Runner = into,
  ): Promise<ClaimAnswer> {
    const { requests } = options
    if (requests.length === 0) {
      const { epoch } = await options.read()
      into.claimed('', [])
      return { epoch, existing: [] }
    }
    const { epoch, existing, tooOld, token } = await claimAll(runner, tables, { ...options, habit })
    into.claimed(
      token,
      requests.filter((_, place) => existing[place] === undefined && !tooOld.has(place)),
    )
    return { epoch, existing, ...(tooOld.size > 0 && { tooOld }) }
  }

  async function onceRead(sql: string) {
    const rows = await short.read(sql)
    return { rows, count: rows.length, status: 0 }
  }
}

/** Without the identity of the database: nothing is cached of a transaction of the caller. */
function joinedEpoch(rows: Answer['rows']): Seen {
  const told = toldIn(rows)
  return { ...told, epoch: told.rowEpoch }
}
