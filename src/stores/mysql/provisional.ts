import type { PositionMove, RecordKey } from '../../contracts/index.ts'
import { bytes } from './cells.ts'
import type { Runner } from './runner.ts'
import { foundByKey, handlerValue, inGroups, textValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/**
 * Something in a transaction that must not be found by anyone if the transaction is committed without us: statements
 * that make it count for nothing, and statements that make it count again. Each does no harm when it is run twice.
 */
export interface Provisional {
  readonly suspend: readonly string[]
  readonly resume: readonly string[]
}

/** Rows that one claim has made. */
export interface Claims {
  readonly token: string
  readonly keys: readonly RecordKey[]
}

/** Records in the state `open` are claims that nobody has answered for: whoever finds them may claim anew. */
export function provisionalClaims({ inbox }: Tables, { token, keys }: Claims): Provisional {
  const groups = inGroups(keys).map((group) => foundByKey(inbox, 'PRIMARY', group))
  const change = (from: string, to: string) =>
    groups.map(
      (found) => `UPDATE ${found} AND known.token = ${token} AND known.state = '${from}' SET known.state = '${to}'`,
    )
  return { suspend: change('processed', 'open'), resume: change('open', 'processed') }
}

/** A position that was moved stands where it was meanwhile. */
export function provisionalMove({ positions }: Tables, group: string, move: PositionMove): Provisional {
  const { source, partition, expected, to } = move
  const place = [handlerValue(group), textValue(source), textValue(partition)]
  const isIt = `consumer_group = ${place[0]} AND source = ${place[1]} AND part = ${place[2]}`
  const setTo = ({ next, incarnation }: PositionMove['to']) =>
    `UPDATE ${positions} SET next_position = ${bytes(next)}, incarnation = ${bytes(incarnation)} WHERE ${isIt}`
  if (expected !== undefined) return { suspend: [setTo(expected)], resume: [setTo(to)] }
  return {
    suspend: [`DELETE FROM ${positions} WHERE ${isIt}`],
    resume: [
      `INSERT INTO ${positions} (consumer_group, source, part, next_position, incarnation)
       VALUES (${place.join(', ')}, ${bytes(to.next)}, ${bytes(to.incarnation)})
       ON DUPLICATE KEY UPDATE next_position = ${bytes(to.next)}, incarnation = ${bytes(to.incarnation)}`,
    ],
  }
}

/**
 * A procedure can commit, and no text of a statement shows it. So before the first statement of a borrower that may run
 * one, what the transaction has claimed is suspended, and resumed right before our own commit. If it is committed in
 * between, by whomever, and whatever becomes of this process then, nothing is taken for done.
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

  /** A borrower has a savepoint. Going back to it undoes the suspension, too, and inside a procedure nobody sees that. */
  mayBeUndone(): void {
    this.#mayBeUndone = true
  }

  /** The part of the transaction with the suspension in it has been undone. */
  rolledBack(): void {
    this.#isSuspended = false
  }

  /** Sends the statements, and does not wait: whatever is sent after them comes after them. */
  suspend(): void {
    if (this.#isSuspended && !this.#mayBeUndone) return
    this.#isSuspended = true
    this.#hasBeen = true
    // The last comes first: what was changed twice is to be as it was before the first time.
    for (const { suspend } of this.#all.toReversed())
      for (const sql of suspend)
        this.#runner.run(sql).catch((error: unknown) => {
          this.#failure ??= error
        })
  }

  async resume(): Promise<void> {
    if (!this.#hasBeen) return
    for (const { resume } of this.#all) for (const sql of resume) await this.#runner.run(sql)
    // All of them have been answered before the one that was awaited.
    if (this.#failure !== undefined) throw this.#failure
  }
}
