import type { Facts } from '../../contracts/index.ts'
import { changedFact, type FactRow, stillStands } from '../../facts/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { bytes, type Cell, integer, nowMs, numberIn, optionalNumberIn, textIn } from './literals-and-cells.ts'
import type { OpenTransactions } from './open-transaction.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { factValue, foundByValue, inChunks, inGroups } from './statement-parts.ts'
import type { Tables } from './tables.ts'

const columns = 'known.name, known.value, known.revision, known.for_ms, known.expires_at'

/** Every statement visits its rows in the same order, so that two processes never wait for each other. */
export function mysqlFacts<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  { facts }: Tables,
): Facts<Native> {
  const known = (names: readonly string[]) => foundByValue(facts, 'name', names.toSorted().map(bytes))
  return {
    async read(names) {
      const found = new Map<string, FactRow>()
      for (const group of inGroups(names)) {
        const rows = await short.read(`SELECT ${columns}, ${nowMs} FROM ${known(group)}`)
        for (const row of rows) {
          const { name, fact, now } = factIn(row)
          if (stillStands(fact, now)) found.set(name, fact)
        }
      }
      return names.map((name) => {
        const fact = found.get(name)
        return fact && { value: fact.value, revision: fact.revision }
      })
    },
    async list(kind, limit) {
      const rows = await short.read(
        `SELECT name, value, revision FROM ${facts} WHERE kind = ${bytes(kind)} AND (expires_at IS NULL OR expires_at > ${nowMs})
         ORDER BY revision DESC, name DESC LIMIT ${integer(limit)}`,
      )
      return rows.map(([name, value, revision]) => {
        return { name: textIn(name), value: textIn(value), revision: numberIn(revision) }
      })
    },
    async change(tx, changes) {
      if (changes.length === 0) return []
      const inOrder = changes.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
      const changeAll = async (runner: Runner) => {
        // Inserts an expired fact, so that there is a row to lock. The transaction that has locked it decides alone.
        const made = inOrder.flatMap(({ name, from }) =>
          from === undefined ? `(${factValue(name)}, ${bytes('')}, 0, 0, 0)` : [],
        )
        for (const rows of inChunks(made)) {
          await runner.run(
            `INSERT INTO ${facts} (name, value, revision, for_ms, expires_at) VALUES ${rows.join(', ')}
             ON DUPLICATE KEY UPDATE name = ${facts}.name`,
          )
        }
        const found = new Map<string, FactRow>()
        let time = 0
        for (const group of inGroups(inOrder)) {
          const names = group.map(({ name }) => bytes(name))
          const { rows } = await runner.run(
            `SELECT ${columns}, ${nowMs} FROM ${foundByValue(facts, 'name', names)} FOR UPDATE`,
          )
          for (const row of rows) {
            const { name, fact, now } = factIn(row)
            found.set(name, fact)
            time = Math.max(time, now)
          }
        }
        const answers = new Map<string, number>()
        const written = inOrder.flatMap((change) => {
          const { row, revision } = changedFact(found.get(change.name), change, time)
          if (revision !== undefined) answers.set(change.name, revision)
          if (row === undefined) return []
          const values = [bytes(row.value), integer(row.revision), integer(row.forMs), integer(row.expiresAt)]
          return `(${[bytes(change.name), ...values].join(', ')})`
        })
        for (const rows of inChunks(written)) {
          await runner.run(
            `INSERT INTO ${facts} (name, value, revision, for_ms, expires_at) VALUES ${rows.join(', ')}
             ON DUPLICATE KEY UPDATE value = VALUES(value), revision = VALUES(revision), for_ms = VALUES(for_ms),
               expires_at = VALUES(expires_at)`,
          )
        }
        return answers
      }
      const revisions = tx === undefined ? await short.run(changeAll) : await changeAll(transactions.runner(tx))
      return changes.map(({ name }) => revisions.get(name))
    },
    async remove(tx, which) {
      const removeAll = async (runner: Runner) => {
        if ('expiredOf' in which)
          await runner.run(`DELETE FROM ${facts} WHERE kind = ${bytes(which.expiredOf)} AND expires_at <= ${nowMs}`)
        else for (const group of inGroups(which)) await runner.run(`DELETE known FROM ${known(group)}`)
      }
      if (tx === undefined) await short.run(removeAll)
      else await removeAll(transactions.runner(tx))
    },
  }
}

function factIn([name, value, revision, forMs, expiresAt, now]: readonly Cell[]) {
  const fact = {
    value: textIn(value),
    revision: numberIn(revision),
    forMs: optionalNumberIn(forMs),
    expiresAt: optionalNumberIn(expiresAt),
  }
  return { name: textIn(name), fact, now: numberIn(now) }
}
