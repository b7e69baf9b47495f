import type { Connection, Connections } from '../connection.ts'
import { explained, sqlState } from '../errors.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { type Cell, textIn } from '../values-as-text.ts'
import { type InboxPartition, partitionNamed } from './inbox-partitions.ts'

export interface Removed {
  readonly removed: number
  readonly more: boolean
}

interface FoundPartition extends InboxPartition {
  /** `pending`: a process has begun to detach it, and may have died. `detached`: it only needs to be dropped. */
  readonly state: 'attached' | 'pending' | 'detached'
  readonly pages: number
  readonly estimatedRows: number
}

/** Detaching waits for all transactions open now, however small the budget; otherwise it would never complete. */
const leastPatienceMs = 5_000
/** Rows are counted up to this many pages; above that the server's own estimate is used. */
const pagesToCount = 10_000

/** The codes that Postgres reports if another process was faster: gone, already detached, or being detached. */
const overtaken = new Set(['42P01', '55000', '42809', '55006'])

/**
 * Removes the partitions that lie entirely before a time, oldest first. Each is removed in two steps, neither of which blocks a
 * claim. After a crash in between, the next run continues with what it finds.
 */
export function partitionRemoval<Tx>(
  connections: Pick<Connections<Tx>, 'checkOut' | 'runAlone'>,
  { inbox, partition, partitionPrefix, meta }: Tables,
): (before: Date, endsAt: number) => Promise<Removed> {
  const list = statement(
    `SELECT substr(relname, ${partitionPrefix.length + 1}),
            CASE WHEN inhdetachpending THEN 'pending' WHEN inhrelid IS NULL THEN 'detached' ELSE 'attached' END,
            relpages, reltuples
     FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid
     WHERE relkind = 'r' AND relname ~ '^${partitionPrefix}[0-9]{8}_[0-9]{8}$'
       AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = '${inbox}'::regclass)
     ORDER BY 1`,
  )

  // The row decides: if a repair has lowered the horizon, nothing is marked; after the mark, none can lower it below.
  const mark = statement(
    `UPDATE ${meta} SET removed_until = greatest(removed_until, $1::timestamptz) WHERE horizon >= $1::timestamptz`,
  )

  /** Keeps the empty partitions after the last filled one: they hold no records, so the horizon can still be lowered. */
  async function removable(before: Date): Promise<FoundPartition[]> {
    const { rows } = await connections.runAlone(list, [])
    const partitions = rows
      .map(foundPartition)
      .filter((found) => found !== undefined && found.until <= before) as FoundPartition[]
    const last = await lastFilled(partitions.filter(({ state }) => state !== 'detached'))
    const mayGo = last !== undefined && (await connections.runAlone(mark, [last.until.toISOString()])).count === 1
    return partitions.filter(({ state, until }) => state === 'detached' || (mayGo && until <= last.until))
  }

  async function lastFilled(partitions: readonly FoundPartition[]): Promise<FoundPartition | undefined> {
    for (const found of partitions.toReversed()) {
      const { rows } = await connections.runAlone(statement(`SELECT EXISTS (SELECT FROM ${partition(found.name)})`), [])
      if (rows[0]?.[0] === 't') return found
    }
    return undefined
  }

  async function detach({ name, state }: FoundPartition, endsAt: number): Promise<boolean> {
    const how = state === 'pending' ? 'FINALIZE' : 'CONCURRENTLY'
    const patienceMs = Math.max(leastPatienceMs, endsAt - performance.now())
    return await runPatiently(
      connections,
      `ALTER TABLE ${inbox} DETACH PARTITION ${partition(name)} ${how}`,
      patienceMs,
    )
  }

  async function drop(found: FoundPartition): Promise<number> {
    const count = statement(`SELECT count(*) FROM ${partition(found.name)}`)
    const isSmall = found.pages < pagesToCount
    const rows = isSmall
      ? Number((await connections.runAlone(count, [])).rows[0]?.[0])
      : Math.max(0, found.estimatedRows)
    await runPatiently(connections, `DROP TABLE ${partition(found.name)}`, leastPatienceMs)
    return rows
  }

  return async (before, endsAt) => {
    let removed = 0
    const partitions = await removable(before).catch((error: unknown) => {
      if (isOvertaken(error)) return undefined
      throw error
    })
    if (partitions === undefined) return { removed, more: true }
    for (const [index, found] of partitions.entries()) {
      if (index > 0 && performance.now() >= endsAt) return { removed, more: true }
      try {
        if (found.state !== 'detached' && !(await detach(found, endsAt))) return { removed, more: true }
        removed += await drop(found)
      } catch (error) {
        if (!isOvertaken(error)) throw explained(error)
        return { removed, more: true }
      }
    }
    return { removed, more: false }
  }
}

function isOvertaken(error: unknown): boolean {
  const { cause } = error as { cause?: unknown }
  return overtaken.has(sqlState(error) ?? sqlState(cause) ?? '')
}

function foundPartition([name, state, pages, rows]: readonly Cell[]): FoundPartition | undefined {
  const known = partitionNamed(textIn(name))
  return (
    known && { ...known, state: state as FoundPartition['state'], pages: Number(pages), estimatedRows: Number(rows) }
  )
}

/**
 * Runs a statement that must not be in a transaction, and so cannot set timeouts of its own behind a pooler. If it takes
 * longer than `patienceMs`, its connection is cut off and the result is `false`.
 */
async function runPatiently<Tx>(
  connections: Pick<Connections<Tx>, 'checkOut'>,
  text: string,
  patienceMs: number,
): Promise<boolean> {
  const connection: Connection<Tx> = await connections.checkOut({ isPatient: true })
  const outOfPatience = Promise.withResolvers<false>()
  const timer = setTimeout(() => outOfPatience.resolve(false), patienceMs)
  const running = connection.script(text).then(() => true)
  try {
    const isDone = await Promise.race([running, outOfPatience.promise])
    if (isDone) connection.release()
    else connection.discard()
    return isDone
  } catch (error) {
    connection.discard()
    throw error
  } finally {
    clearTimeout(timer)
    running.catch(() => {})
  }
}
