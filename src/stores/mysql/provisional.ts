import type { PositionMove, RecordKey } from '../../contracts/index.ts'
import { bytes } from './literals-and-cells.ts'
import type { Runner } from './runner.ts'
import { foundByKey, handlerValue, inGroups, textValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/**
 * Something in a transaction that nobody must find if the transaction is committed without us: statements that invalidate
 * it, and statements that restore it. Each is safe to run twice.
 */
export interface Provisional {
  readonly suspend: readonly string[]
  readonly resume: readonly string[]
}

/** The rows of one claim. */
export interface Claims {
  readonly token: string
  readonly keys: readonly RecordKey[]
}

/** Records in the state `open` are claims that nobody has completed. Anyone who finds them may claim again. */
export function provisionalClaims({ inbox }: Tables, { token, keys }: Claims): Provisional {
  const groups = inGroups(keys).map((group) => foundByKey(inbox, 'PRIMARY', group))
  const change = (from: string, to: string) =>
    groups.map(
      (found) => `UPDATE ${found} AND known.token = ${token} AND known.state = '${from}' SET known.state = '${to}'`,
    )
  return { suspend: change('processed', 'open'), resume: change('open', 'processed') }
}

/** While suspended, a moved position stands where it was before. */
export function provisionalMove({ positions }: Tables, group: string, move: PositionMove): Provisional {
  const { source, partition, expected, to } = move
  const place = [handlerValue(group), textValue(source), textValue(partition)]
  const isIt = `consumer_group = ${place[0]} AND source = ${place[1]} AND \`partition\` = ${place[2]}`
  const setTo = ({ next, incarnation }: PositionMove['to']) =>
    `UPDATE ${positions} SET next_position = ${bytes(next)}, incarnation = ${bytes(incarnation)} WHERE ${isIt}`
  if (expected !== undefined) return { suspend: [setTo(expected)], resume: [setTo(to)] }
  return {
    suspend: [`DELETE FROM ${positions} WHERE ${isIt}`],
    resume: [
      `INSERT INTO ${positions} (consumer_group, source, \`partition\`, next_position, incarnation)
       VALUES (${place.join(', ')}, ${bytes(to.next)}, ${bytes(to.incarnation)})
       ON DUPLICATE KEY UPDATE next_position = ${bytes(to.next)}, incarnation = ${bytes(to.incarnation)}`,
    ],
  }
}

/**
 * A procedure can commit, and no text of a statement shows it. So before a borrower's first statement that may call one, the
 * claims of the transaction are suspended; they are resumed right before our own commit. If anyone commits in between,
 * whatever then happens to this process, nothing counts as processed.
 */
export class Suspension {
  readonly #runner: Runner
  readonly #all: Provisional[] = []
  #isSuspended = false
  #mayBeUndone = false
  #hasBeen = false
  #failure: unknown

  constructor(runner: Runner) {
    this.#runner = runner
  }

  add(provisional: Provisional): void {
    this.#all.push(provisional)
    this.#isSuspended = false
  }

  /** A borrower has a savepoint. Rolling back to it also rolls back the suspension, undetected if done inside a procedure. */
  mayBeUndone(): void {
    this.#mayBeUndone = true
  }

  /** The part of the transaction that contains the suspension was rolled back. */
  rolledBack(): void {
    this.#isSuspended = false
  }

  /** Sends the statements without waiting, because later statements run after them anyway. */
  suspend(): void {
    if (this.#isSuspended && !this.#mayBeUndone) return
    this.#isSuspended = true
    this.#hasBeen = true
    // In reverse order, so that something changed twice gets its original value.
    for (const { suspend } of this.#all.toReversed())
      for (const sql of suspend)
        this.#runner.run(sql).catch((error: unknown) => {
          this.#failure ??= error
        })
  }

  async resume(): Promise<void> {
    if (!this.#hasBeen) return
    for (const { resume } of this.#all) for (const sql of resume) await this.#runner.run(sql)
    // All of them were answered before the awaited one.
    if (this.#failure !== undefined) throw this.#failure
  }
}
