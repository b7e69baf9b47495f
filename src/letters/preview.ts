import type { ParkedFilter, StoredParkedMessage } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import { unrouted } from '../engine/parked-rows.ts'
import { isRowOf } from '../engine/work.ts'
import { examine } from './examine.ts'
import { isTooLate } from './lateness-of-letter.ts'
import { type LetterRun, runsOfLetters } from './letter-runs.ts'
import { pagesOf } from './pages.ts'
import { decideSelection } from './selection.ts'
import type { LetterSelection, RedrivePreview } from './types.ts'

/** Counts what a redrive of the selection would do. */
export async function preview<Tx>(engine: Engine<Tx>, selection: LetterSelection): Promise<RedrivePreview> {
  const selected = decideSelection(selection)
  if (selected.kind === 'exact') await examine(engine, selected.keys)
  const wouldRun = new Tally()
  const alreadyDone = new Tally()
  const heads = new Heads()
  let letters = 0
  let expired = 0
  let tooOld = 0
  for await (const page of pagesOf(engine.store.parking, selected.filter)) {
    const free = page.filter(({ redrive }) => redrive === undefined)
    const runs = await runsOfLetters(engine, free)
    for (const [index, letter] of free.entries()) {
      letters++
      if (letter.reason === 'TOO_OLD_TO_KNOW') tooOld++
      const ofLetter = runs[index] ?? []
      for (const { handler, isDone } of ofLetter) if (isDone) alreadyDone.add(handler.name)
      if (isTooLate(engine, letter)) {
        expired++
        continue
      }
      for (const name of runnable(engine, letter, ofLetter)) wouldRun.add(name)
      heads.add(letter)
    }
  }
  for (const name of await behind(engine, heads)) wouldRun.add(name)
  return { letters, wouldRun: wouldRun.counts(), alreadyDone: alreadyDone.counts(), tooOld, expired }
}

/** What the letter itself would be given to. */
function runnable<Tx>(
  engine: Engine<Tx>,
  letter: StoredParkedMessage,
  runs: readonly LetterRun<Tx>[],
): readonly string[] {
  if (letter.handler === unrouted) return runs.filter(({ isKnown }) => !isKnown).map(({ handler }) => handler.name)
  const name = engine.handlerNamed(letter.handler)?.name ?? letter.handler
  const own = runs.find(({ handler }) => handler.name === name)
  // The key of a conflict belongs to another message: while that has its record, the letter would only die of it again.
  return own !== undefined && !isRowOf(letter, own.key) && own.isKnown ? [] : [name]
}

/** Later handlers of the same messages, which follow when the letters have succeeded. */
async function behind<Tx>(engine: Engine<Tx>, heads: Heads): Promise<readonly string[]> {
  if (heads.isEmpty) return []
  const names: string[] = []
  for await (const page of pagesOf(engine.store.parking, heads.filter()))
    for (const row of page) {
      if (!row.independent && heads.precede(row)) names.push(engine.handlerNamed(row.handler)?.name ?? row.handler)
    }
  return names
}

/** The messages of the letters, with the earliest of their handlers that would run. */
class Heads {
  readonly #steps = new Map<string, number>()
  readonly #types = new Set<string>()
  readonly #ids = new Set<string>()

  get isEmpty(): boolean {
    return this.#steps.size === 0
  }

  add(letter: StoredParkedMessage): void {
    const known = this.#steps.get(messageOf(letter)) ?? Number.POSITIVE_INFINITY
    this.#steps.set(messageOf(letter), Math.min(known, letter.step))
    this.#types.add(letter.type)
    this.#ids.add(letter.messageId)
  }

  precede(row: StoredParkedMessage): boolean {
    return (this.#steps.get(messageOf(row)) ?? Number.POSITIVE_INFINITY) < row.step
  }

  /** One look at all that wait rather than one for each letter; as narrow as can be. */
  filter(): ParkedFilter {
    return {
      state: 'waiting',
      reason: 'WAITS_FOR_EARLIER_HANDLER',
      type: this.#types.size === 1 ? [...this.#types][0] : undefined,
      messageId: this.#ids.size === 1 ? [...this.#ids][0] : undefined,
    }
  }
}

function messageOf({ source, type, messageId }: StoredParkedMessage): string {
  return JSON.stringify([source, type, messageId])
}

class Tally {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }
}
