import type { ParkedFilter, StoredParkedMessage } from '../contracts/index.ts'
import { unrouted } from '../encoding/unrouted.ts'
import { findLetters } from './find-letters.ts'
import { pagesOf } from './pages.ts'
import { withReusedKeys } from './reused-keys.ts'
import { decideSelection } from './selection.ts'
import type { LetterRun, Site } from './site.ts'
import type { LetterSelection, RedrivePreview } from './types.ts'

/** Counts what a redrive of the selection would do. */
export async function preview<Tx>(site: Site<Tx>, selection: LetterSelection): Promise<RedrivePreview> {
  const { handlers, store } = site
  const selected = decideSelection(selection)
  if (selected.kind === 'exact') await findLetters(site, selected.keys)
  const wouldRun = new Tally()
  const alreadyDone = new Tally()
  const heads = new Heads()
  const areHandlersKnown = (await handlers.runsOf([])) !== undefined
  let letters = 0
  let expired = 0
  let tooOld = 0
  for await (const page of pagesOf(store, selected.filter)) {
    const free = page.filter(({ redrive }) => redrive === undefined)
    const runs = await handlers.runsOf(free)
    const refused = await withReusedKeys(site, free)
    for (const [index, letter] of free.entries()) {
      letters++
      if (letter.reason === 'TOO_OLD_TO_KNOW') tooOld++
      const ofLetter = runs?.[index]
      for (const { handler, isDone } of ofLetter ?? []) if (isDone) alreadyDone.add(handler)
      if (handlers.isTooLate(letter)) {
        expired++
        continue
      }
      if (!refused.has(letter)) for (const name of runnable(site, letter, ofLetter)) wouldRun.add(name)
      heads.add(letter)
    }
  }
  for (const name of await behind(site, heads)) wouldRun.add(name)
  const done = areHandlersKnown ? alreadyDone.counts() : undefined
  return { letters, wouldRun: wouldRun.counts(), alreadyDone: done, tooOld, expired }
}

/** The handlers that would be given the dead letter itself. */
function runnable<Tx>(
  { handlers }: Site<Tx>,
  { handler }: StoredParkedMessage,
  runs: readonly LetterRun[] | undefined,
): readonly string[] {
  if (handler !== unrouted) return handlers.namesOf(handler).slice(0, 1)
  return runs === undefined ? [unrouted] : runs.filter(({ isKnown }) => !isKnown).map((run) => run.handler)
}

/** Later handlers of the same messages, which follow when the dead letters have succeeded. */
async function behind<Tx>({ store, handlers }: Site<Tx>, heads: Heads): Promise<readonly string[]> {
  if (heads.isEmpty) return []
  const names: string[] = []
  for await (const page of pagesOf(store, heads.filter()))
    for (const row of page) {
      if (!row.independent && heads.precede(row)) names.push(...handlers.namesOf(row.handler).slice(0, 1))
    }
  return names
}

/** The messages of the dead letters, with the earliest of their handlers that would run. */
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

  /** One query for all waiting rows rather than one per dead letter, as narrow as possible. */
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
