import type { InboxKey } from '../../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../../errors/index.ts'
import type { Connections, Runner } from '../connection.ts'
import { messageOf, sqlState } from '../errors.ts'
import { type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { beginAnew } from '../transactions/left-open.ts'
import { dateIn, textArray } from '../values-as-text.ts'
import { type Part, partFrom, partStart } from './inbox-parts.ts'

type CanRun = Pick<Runner, 'run'>

/** How long the creation of parts waits for a lock. A pending lock of this kind blocks no claim. */
const lockTimeoutMs = 2_000
/** How many parts one transaction creates. The lock table has room for many more, but not for several years of them. */
const mostAtOnce = 100
/** How long a claim, which already has a connection, waits for a second one. */
const patienceMs = 250

/**
 * The parts of the inbox, by the day on which messages were born. If nobody has prepared the part for a day, the first claim
 * for that day creates it on a separate connection. Parts that were seen are remembered, because a part is removed only when
 * no claim for it can be made any more.
 */
export class Partitions<Tx> {
  readonly #connections: Pick<Connections<Tx>, 'max' | 'checkOut' | 'runAlone'>
  readonly #tables: Tables
  readonly #look: Statement
  readonly #lock: Statement
  readonly #seen = new Set<number>()
  readonly #making = new Map<string, Promise<void>>()

  constructor(connections: Pick<Connections<Tx>, 'max' | 'checkOut' | 'runAlone'>, tables: Tables) {
    this.#connections = connections
    this.#tables = tables
    this.#look = statement(
      `SELECT floor(extract(epoch FROM horizon) * 1000), ARRAY(
         SELECT substr(relname, ${tables.partPrefix.length + 1}) FROM pg_inherits JOIN pg_class ON oid = inhrelid
         WHERE inhparent = '${tables.inbox.replaceAll("'", "''")}'::regclass AND NOT inhdetachpending
           AND relname = ANY (SELECT '${tables.partPrefix}' || name FROM unnest($1::text[]) AS name))::text
       FROM ${tables.meta}`,
    )
    this.#lock = statement(`SELECT pg_advisory_xact_lock(hashtext('justonce'), hashtext($1::text))`)
  }

  /** `false` if some keys were born in a part that, as far as this process knows, does not exist yet. */
  has(keys: readonly InboxKey[]): boolean {
    return keys.every(({ born }) => born === undefined || this.#seen.has(partStart(born)))
  }

  /** Creates the parts that these keys need, so that the runner's next statement can claim in them. */
  async makeFor(runner: Runner, keys: readonly InboxKey[]): Promise<void> {
    const starts = new Set(keys.flatMap(({ born }) => (born === undefined ? [] : [partStart(born)])))
    const unseen = [...starts].filter((start) => !this.#seen.has(start)).map(partFrom)
    const missing = await this.#missing(runner, unseen)
    if (missing.length > 0 && !(await this.#madeOutside(missing))) await this.#make(runner, missing)
    else for (const { from } of unseen) this.#seen.add(from.getTime())
  }

  async make(parts: readonly Part[]): Promise<void> {
    const missing = await this.#missing({ run: this.#connections.runAlone }, parts)
    for (let made = 0; made < missing.length; made += mostAtOnce)
      await this.#makeOutside(missing.slice(made, made + mostAtOnce))
  }

  /** For when a part that was seen does not exist after all. */
  forget(): void {
    this.#seen.clear()
  }

  /** Parts before the horizon never count as missing, because nothing is claimed there. */
  async #missing(runner: CanRun, parts: readonly Part[]): Promise<readonly Part[]> {
    const { rows } = await runner.run(this.#look, [textArray(parts.map(({ name }) => name))])
    const [horizon, names] = rows[0] ?? []
    const there = new Set((names ?? '').slice(1, -1).split(','))
    const oldest = horizon === null || horizon === undefined ? Number.NEGATIVE_INFINITY : dateIn(horizon).getTime()
    return parts.filter(({ name, until }) => until.getTime() > oldest && !there.has(name))
  }

  /** `false` if no second connection is available. All claims of this process that need the same parts wait for one creation. */
  async #madeOutside(parts: readonly Part[]): Promise<boolean> {
    if (this.#connections.max < 2) return false
    const name = parts.map((part) => part.name).join()
    const making = this.#making.get(name) ?? this.#makeOutside(parts, patienceMs)
    this.#making.set(name, making)
    try {
      await making
      return true
    } catch (error) {
      if (isJustonceError(error, 'STORE_BUSY')) return false
      throw error
    } finally {
      this.#making.delete(name)
    }
  }

  async #makeOutside(parts: readonly Part[], giveUpAfterMs?: number): Promise<void> {
    const connection = await this.#connections.checkOut({ giveUpAfterMs })
    try {
      await beginAnew(connection, `; SET LOCAL lock_timeout = ${lockTimeoutMs}`)
      await this.#make(connection, parts)
      await connection.script('COMMIT')
      connection.release()
    } catch (error) {
      connection.discard()
      throw error
    }
  }

  /**
   * Creates a table and attaches it. Creating the part in place would wait for every open transaction, and every claim would
   * wait behind it. A table that already exists was detached by someone; its records count again.
   */
  async #make(runner: Runner, parts: readonly Part[]): Promise<void> {
    const { inbox, part, lockName } = this.#tables
    await runner.run(this.#lock, [`${lockName} parts`])
    const missing = await this.#missing(runner, parts)
    if (missing.length === 0) return
    const texts = missing.map(({ name, from, until }) => {
      const range = `FROM ('${from.toISOString()}') TO ('${until.toISOString()}')`
      return `CREATE TABLE IF NOT EXISTS ${part(name)} (LIKE ${inbox} INCLUDING DEFAULTS INCLUDING INDEXES);
        ALTER TABLE ${inbox} ATTACH PARTITION ${part(name)} FOR VALUES ${range}`
    })
    try {
      await runner.script(texts.join(';\n'))
    } catch (error) {
      throw sqlState(error) === '42501' ? mayNotMake(error, missing) : error
    }
  }
}

function mayNotMake(cause: unknown, parts: readonly Part[]): JustonceError {
  const [day] = parts.map(({ from }) => from.toISOString().slice(0, 10)).toSorted()
  return new JustonceError('PARTITION_MISSING', {
    message: `There is no partition for records of messages born on ${day}, and Postgres says: ${messageOf(cause)}.`,
    cause,
  })
}
