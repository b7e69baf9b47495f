import type { RedriveProgress, Redrives } from '../../contracts/index.ts'
import { bytes, dateIn, integer, nowMicros, nowMs, textIn } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { isRunning } from './parked-columns.ts'
import { conditionOf } from './parked-filter.ts'
import { progressIn, redriveIn } from './rows.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByValue, textValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/** In the order in which `redriveIn` reads them. */
const columns = `id, started_by, why, canary, per_second, stop_after_failures, state, selected, started_at, ended_at,
  reached_unreleased, reached_untried, reached_failed`

const counts = `COALESCE(SUM(is_released = 0), 0),
  COALESCE(SUM(is_released = 1 AND attempts = 0 AND state = 'waiting'), 0),
  COALESCE(SUM(is_released = 1 AND (attempts > 0 OR state = 'dead')), 0)`

export function mysqlRedrives<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  tables: Tables,
): Redrives<Native> {
  const { parked, redrives, meta } = tables
  const progress = (id: string) => `SELECT ${counts}, ${nowMs} FROM ${parked} WHERE redrive = ${id}`

  return {
    async start(tx, { id, by, why, canary, perSecond, stopAfterFailures }, filter) {
      const runner = transactions.runner(tx)
      // One at a time: a second one that had waited for the letters of the first would not see that redrive.
      await runner.run(`SELECT version FROM ${meta} FOR UPDATE`)
      const name = textValue(id)
      // Asked beforehand: what an UPDATE looks up it locks, and would wait for whoever drives one of them.
      const running = (await runner.run(`SELECT id FROM ${redrives} WHERE state = 'running'`)).rows
      const others = running.map(([each]) => bytes(textIn(each)))
      const { count } = await runner.run(
        // By the primary key: only there does InnoDB pass over what others hold and what does not fit anyway.
        `UPDATE ${parked} FORCE INDEX (PRIMARY) SET redrive = ${name}, is_released = 0
         WHERE (redrive IS NULL${others.length === 0 ? ' OR TRUE' : ` OR redrive NOT IN (${others.join(', ')})`})
           AND ${conditionOf({ ...filter, state: 'dead' }, tables)}`,
      )
      const rate = perSecond === undefined ? 'NULL' : String(Number(perSecond))
      await runner.run(
        `INSERT INTO ${redrives} (id, started_by, why, canary, per_second, stop_after_failures, selected, started_at, turn)
         VALUES (${name}, ${bytes(by)}, ${bytes(why)}, ${integer(canary)}, ${rate}, ${integer(stopAfterFailures)},
                 ${count}, ${nowMs}, ${nowMicros})`,
      )
      return count
    },
    async take(tx) {
      const runner = transactions.runner(tx)
      const { rows } = await runner.run(
        `SELECT ${columns} FROM ${redrives} FORCE INDEX (redrives_turn) WHERE state = 'running'
         ORDER BY turn, seq LIMIT 1 FOR UPDATE SKIP LOCKED`,
      )
      if (rows[0] === undefined) return undefined
      const redrive = redriveIn(rows[0])
      await runner.run(
        `UPDATE ${redrives} SET turn = GREATEST(turn + 1, ${nowMicros}) WHERE id = ${textValue(redrive.id)}`,
      )
      // Counted after the lock, so that whatever the last driver has done is in it.
      const counted = (await runner.run(progress(textValue(redrive.id)))).rows[0] ?? []
      return { redrive, progress: progressIn(counted), now: dateIn(counted[3]) }
    },
    async release(tx, id, limit) {
      const runner = transactions.runner(tx)
      const { rows } = await runner.run(
        `SELECT id FROM ${parked} FORCE INDEX (parked_redrive)
         WHERE redrive = ${textValue(id)} AND is_released = 0 AND state = 'dead' AND ${isRunning(tables, textValue(id))}
         ORDER BY id LIMIT ${integer(limit)} FOR UPDATE SKIP LOCKED`,
      )
      if (rows.length === 0) return 0
      await runner.run(
        `UPDATE ${foundByValue(
          parked,
          'id',
          rows.map(([each]) => textIn(each)),
        )} SET known.is_released = 1, known.state = 'waiting', known.attempts = 0, known.begun = 0,
           known.next_at = ${nowMs}, known.changed_at = ${nowMs}, known.revision = known.revision + 1`,
      )
      return rows.length
    },
    async end(tx, id, state) {
      const runner = transactions.runner(tx)
      const { unreleased, untried, failed } = await progressOf(runner, progress(textValue(id)))
      await runner.run(
        `UPDATE ${redrives} SET state = '${state === 'finished' ? 'finished' : 'stopped'}', ended_at = ${nowMs},
           reached_unreleased = ${unreleased}, reached_untried = ${untried}, reached_failed = ${failed}
         WHERE id = ${textValue(id)} AND state = 'running'`,
      )
    },
    async find(id) {
      const name = textValue(id)
      const rows = await short.read(`SELECT ${columns} FROM ${redrives} WHERE id = ${name}`)
      if (rows[0] === undefined) return undefined
      const redrive = redriveIn(rows[0])
      const none = { unreleased: 0, untried: 0, failed: 0 }
      if (redrive.state !== 'running') return { redrive, progress: none }
      return { redrive, progress: progressIn((await short.read(progress(name)))[0] ?? []) }
    },
    async list(limit) {
      return (await short.read(`SELECT ${columns} FROM ${redrives} ORDER BY seq DESC LIMIT ${integer(limit)}`)).map(
        redriveIn,
      )
    },
  }
}

async function progressOf(runner: Runner, sql: string): Promise<RedriveProgress> {
  return progressIn((await runner.run(sql)).rows[0] ?? [])
}
