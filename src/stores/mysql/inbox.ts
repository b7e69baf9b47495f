import type { ClaimAnswer, ClaimRequest, Inbox } from '../../contracts/index.ts'
import { splitChanges } from '../../encoding/split-changes.ts'
import { type ClaimHabit, type ClaimOptions, claimAll, look, nameOf } from './claim.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { epochAndHorizon, Identities } from './epoch.ts'
import { deadlock, errorNumber } from './errors.ts'
import { bytes, nowMs, optionalNumberIn, textIn } from './literals-and-cells.ts'
import { newEpoch } from './migrations/index.ts'
import { mark, type OpenTransactions } from './open-transaction.ts'
import type { Runner } from './runner.ts'
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
        const { rows } = await joined.run(epochAndHorizon(tables))
        const seen = { epoch: textIn(rows[0]?.[0]), horizonMs: optionalNumberIn(rows[0]?.[1]) }
        const { answer, token } = await claimOn(joined, tables, { requests, ...seen, habit, before: joined.claims })
        joined.claimed(token, ours(requests, answer))
        return answer
      }
      const { connection } = transaction
      for (let turn = 1; ; turn++) {
        try {
          // Read before the claim, because an epoch and a horizon that are too old are better than too new.
          const { epoch, row } = await identities.read(connection)
          const seen = { epoch, horizonMs: optionalNumberIn(row[1]) }
          const { answer, token } = await claimOn(connection, tables, {
            requests,
            ...seen,
            habit,
            before: transaction.claims,
          })
          transaction.claimed(token, ours(requests, answer))
          return answer
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

  async function onceRead(sql: string) {
    const rows = await short.read(sql)
    return { rows, count: rows.length, status: 0 }
  }
}

async function claimOn(
  runner: Runner,
  tables: Tables,
  { epoch, ...options }: ClaimOptions & { readonly epoch: string },
): Promise<{ readonly answer: ClaimAnswer; readonly token: string }> {
  if (options.requests.length === 0) return { answer: { epoch, existing: [] }, token: '' }
  const { existing, tooOld, token } = await claimAll(runner, tables, options)
  return { answer: { epoch, existing, ...(tooOld.size > 0 && { tooOld }) }, token }
}

function ours(requests: readonly ClaimRequest[], { existing, tooOld }: ClaimAnswer): readonly ClaimRequest[] {
  return requests.filter((_, place) => existing[place] === undefined && !tooOld?.has(place))
}
