import type { InboxKey } from '../../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../../errors/index.ts'
import type { Connections, Runner } from '../connection.ts'
import { messageOf, sqlState } from '../errors.ts'
import { type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { beginAnew } from '../transactions/left-open.ts'
import { dateIn, textArray } from '../values-as-text.ts'
import { type InboxPartition, partitionFrom, partitionStart } from './inbox-partitions.ts'

type CanRun = Pick<Runner, 'run'>

/** How long the creation of partitions waits for a lock. A pending lock of this kind blocks no claim. */
const lockTimeoutMs = 2_000
/** How many partitions one transaction creates. The lock table has room for many more, but not for several years of them. */
const mostAtOnce = 100
/** How long a claim, which already has a connection, waits for a second one. */
const patienceMs = 250

/**
 * The partitions of the inbox, by the day on which messages were born. If nobody has prepared the partition for a day, the
 * first claim for that day creates it on a separate connection. Those that were seen are remembered, because one is
 * removed only when no claim for it can be made any more.
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
         SELECT substr(relname, ${tables.partitionPrefix.length + 1}) FROM pg_inherits JOIN pg_class ON oid = inhrelid
         WHERE inhparent = '${tables.inbox.replaceAll("'", "''")}'::regclass AND NOT inhdetachpending
           AND relname = ANY (SELECT '${tables.partitionPrefix}' || name FROM unnest($1::text[]) AS name))::text
       FROM ${tables.meta}`,
    )
    this.#lock = statement(`SELECT pg_advisory_xact_lock(hashtext('justonce'), hashtext($1::text))`)
  }

  /** `false` if some keys were born in a partition that, as far as this process knows, does not exist yet. */
  has(keys: readonly InboxKey[]): boolean {
    return keys.every(({ born }) => born === undefined || this.#seen.has(partitionStart(born)))
  }

  /** Creates the partitions that these keys need, so that the runner's next statement can claim in them. */
  async makeFor(runner: Runner, keys: readonly InboxKey[]): Promise<void> {
    const starts = new Set(keys.flatMap(({ born }) => (born === undefined ? [] : [partitionStart(born)])))
    const unseen = [...starts].filter((start) => !this.#seen.has(start)).map(partitionFrom)
    const missing = await this.#missing(runner, unseen)
    if (missing.length > 0 && !(await this.#madeOutside(missing))) await this.#make(runner, missing)
    else for (const { from } of unseen) this.#seen.add(from.getTime())
  }

  async make(partitions: readonly InboxPartition[]): Promise<void> {
    const missing = await this.#missing({ run: this.#connections.runAlone }, partitions)
    for (let made = 0; made < missing.length; made += mostAtOnce)
      await this.#makeOutside(missing.slice(made, made + mostAtOnce))
  }

  /** For when a partition that was seen does not exist after all. */
  forget(): void {
    this.#seen.clear()
  }

  /** Partitions before the horizon never count as missing, because nothing is claimed there. */
  async #missing(runner: CanRun, partitions: readonly InboxPartition[]): Promise<readonly InboxPartition[]> {
    const { rows } = await runner.run(this.#look, [textArray(partitions.map(({ name }) => name))])
    const [horizon, names] = rows[0] ?? []
    const there = new Set((names ?? '').slice(1, -1).split(','))
    const oldest = horizon === null || horizon === undefined ? Number.NEGATIVE_INFINITY : dateIn(horizon).getTime()
    return partitions.filter(({ name, until }) => until.getTime() > oldest && !there.has(name))
  }

  /** `false` if no second connection is available. Claims of this process that need the same partitions wait for one creation. */
  async #madeOutside(partitions: readonly InboxPartition[]): Promise<boolean> {
    if (this.#connections.max < 2) return false
    const name = partitions.map((partition) => partition.name).join()
    const making = this.#making.get(name) ?? this.#makeOutside(partitions, patienceMs)
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

  async #makeOutside(partitions: readonly InboxPartition[], giveUpAfterMs?: number): Promise<void> {
    const connection = await this.#connections.checkOut({ giveUpAfterMs, isPatient: true })
    try {
      await beginAnew(connection, `; SET LOCAL lock_timeout = ${lockTimeoutMs}`)
      await this.#make(connection, partitions)
      await connection.script('COMMIT')
      connection.release()
    } catch (error) {
      connection.discard()
      throw error
    }
  }

  /**
   * Creates a table and attaches it. Creating the partition in place would wait for every open transaction, and every claim would
   * wait behind it. A table that already exists was detached by someone; its records count again.
   */
  async #make(runner: Runner, partitions: readonly InboxPartition[]): Promise<void> {
    const { inbox, partition, lockName } = this.#tables
    await runner.run(this.#lock, [`${lockName} partitions`])
    const missing = await this.#missing(runner, partitions)
    if (missing.length === 0) return
    const texts = missing.map(({ name, from, until }) => {
      const range = `FROM ('${from.toISOString()}') TO ('${until.toISOString()}')`
      return `CREATE TABLE IF NOT EXISTS ${partition(name)} (LIKE ${inbox} INCLUDING DEFAULTS INCLUDING INDEXES);
        ALTER TABLE ${inbox} ATTACH PARTITION ${partition(name)} FOR VALUES ${range}`
    })
    try {
      await runner.script(texts.join(';\n'))
    } catch (error) {
      throw sqlState(error) === '42501' ? mayNotMake(error, missing) : error
    }
  }
}

function mayNotMake(cause: unknown, partitions: readonly InboxPartition[]): JustonceError {
  const [day] = partitions.map(({ from }) => from.toISOString().slice(0, 10)).toSorted()
  return new JustonceError('PARTITION_MISSING', {
    message: `There is no partition for records of messages born on ${day}, and Postgres says: ${messageOf(cause)}.`,
    cause,
  })
}
