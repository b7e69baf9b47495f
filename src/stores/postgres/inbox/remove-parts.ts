import { type Cell, textIn } from '../cells.ts'
import type { Connection, ConnectionSource } from '../connection.ts'
import { sqlState } from '../errors.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { type Part, partNamed } from './inbox-parts.ts'

export interface Removed {
  readonly removed: number
  readonly more: boolean
}

interface FoundPart extends Part {
  /** `pending`: somebody has begun to detach it, and perhaps died. `detached`: it only has to be dropped. */
  readonly state: 'attached' | 'pending' | 'detached'
  readonly pages: number
  readonly estimatedRows: number
}

/** Detaching waits for every transaction that is open now, be the budget ever so small: else it would never be done. */
const leastPatienceMs = 5_000
/** Up to here rows are counted, beyond it the server's own estimate will do. */
const pagesToCount = 10_000

/** Said by Postgres when somebody else was faster: gone, detached already, or being detached. */
const overtaken = new Set(['42P01', '55000', '42809', '55006'])

/**
 * Removes the parts that lie wholly before a moment, oldest first. Each goes in two steps, none of which makes a claim
 * wait, and whoever comes after a crash in between goes on with what is found.
 */
export function partRemoval<Tx>(
  source: Pick<ConnectionSource<Tx>, 'checkOut' | 'runAlone'>,
  { inbox, part, partPrefix, meta }: Tables,
): (before: Date, endsAt: number) => Promise<Removed> {
  const list = statement(
    `SELECT substr(relname, ${partPrefix.length + 1}),
            CASE WHEN inhdetachpending THEN 'pending' WHEN inhrelid IS NULL THEN 'detached' ELSE 'attached' END,
            relpages, reltuples
     FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid
     WHERE relkind = 'r' AND relname ~ '^${partPrefix}[0-9]{8}_[0-9]{8}$'
       AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = '${inbox}'::regclass)
     ORDER BY 1`,
  )

  // The row decides: a repair that has lowered the horizon meanwhile is seen, and from here on none can lower it below.
  const mark = statement(
    `UPDATE ${meta} SET removed_until = greatest(removed_until, $1::timestamptz) WHERE horizon >= $1::timestamptz`,
  )

  /** Empty ones that nothing comes after stay: nothing is gone with them, so the horizon could still be lowered. */
  async function removable(before: Date): Promise<FoundPart[]> {
    const { rows } = await source.runAlone(list, [])
    const parts = rows.map(foundPart).filter((found) => found !== undefined && found.until <= before) as FoundPart[]
    const last = await lastFilled(parts.filter(({ state }) => state !== 'detached'))
    const mayGo = last !== undefined && (await source.runAlone(mark, [last.until.toISOString()])).count === 1
    return parts.filter(({ state, until }) => state === 'detached' || (mayGo && until <= last.until))
  }

  async function lastFilled(parts: readonly FoundPart[]): Promise<FoundPart | undefined> {
    for (const found of parts.toReversed()) {
      const { rows } = await source.runAlone(statement(`SELECT EXISTS (SELECT FROM ${part(found.name)})`), [])
      if (rows[0]?.[0] === 't') return found
    }
    return undefined
  }

  async function detach({ name, state }: FoundPart, endsAt: number): Promise<boolean> {
    const how = state === 'pending' ? 'FINALIZE' : 'CONCURRENTLY'
    const patienceMs = Math.max(leastPatienceMs, endsAt - performance.now())
    return await runPatiently(source, `ALTER TABLE ${inbox} DETACH PARTITION ${part(name)} ${how}`, patienceMs)
  }

  async function drop(found: FoundPart): Promise<number> {
    const count = statement(`SELECT count(*) FROM ${part(found.name)}`)
    const isSmall = found.pages < pagesToCount
    const rows = isSmall ? Number((await source.runAlone(count, [])).rows[0]?.[0]) : Math.max(0, found.estimatedRows)
    await runPatiently(source, `DROP TABLE ${part(found.name)}`, leastPatienceMs)
    return rows
  }

  return async (before, endsAt) => {
    let removed = 0
    const parts = await removable(before).catch((error: unknown) => {
      if (isOvertaken(error)) return undefined
      throw error
    })
    if (parts === undefined) return { removed, more: true }
    for (const [index, found] of parts.entries()) {
      if (index > 0 && performance.now() >= endsAt) return { removed, more: true }
      try {
        if (found.state !== 'detached' && !(await detach(found, endsAt))) return { removed, more: true }
        removed += await drop(found)
      } catch (error) {
        if (!isOvertaken(error)) throw error
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

function foundPart([name, state, pages, rows]: readonly Cell[]): FoundPart | undefined {
  const known = partNamed(textIn(name))
  return known && { ...known, state: state as FoundPart['state'], pages: Number(pages), estimatedRows: Number(rows) }
}

/**
 * Runs what must not be in a transaction, and therefore cannot have timeouts of its own behind a pooler: after so long it
 * is cut off with its connection. False: it was.
 */
async function runPatiently<Tx>(
  source: Pick<ConnectionSource<Tx>, 'checkOut'>,
  text: string,
  patienceMs: number,
): Promise<boolean> {
  const connection: Connection<Tx> = await source.checkOut({})
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
