import type { Store } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { columnsOf } from './compare.ts'
import type { FailureName } from './failure-names.ts'
import { placeOf } from './place.ts'
import { type Prover, usualPins } from './prover.ts'
import type { RunOutcome } from './run.ts'
import { checkSteady } from './steady.ts'
import { oneLine } from './steps.ts'
import { noteOutsideCalls, noteStrayCalls } from './stray-calls.ts'

const undisturbed = 'nothing: this was an undisturbed run'

/** One is an hour later, the other a day, a minute and a bit, so that the day and the minute differ, too. */
const clocks = [3_600_000, 86_461_001]

/**
 * Runs the handlers undisturbed to learn their effect and their steps, several times with the same clock and random values and
 * then with different ones. Resolves to whether the effect is stable enough for comparisons.
 */
export async function learn<S extends Store>(prover: Prover<S>): Promise<boolean> {
  const looks = await prover.look()
  const { effect: initial } = await prover.run('reading the initial state', { batches: [] })
  const first = await prover.run('undisturbed', { batches: prover.oneByOne(), isTracing: true, stopsAtFailure: true })
  prover.baseline = { ...looks, initial, effect: first.effect, steps: first.steps, journal: first.journal }
  noteOutsideCalls(prover, first.journal, undisturbed)
  for (const [handler, why] of first.journal.leftOut) prover.notes.push(`${handler} ${why}, so it was not tested.`)
  if (first.journal.failures.length > 0) return notRunning(prover, first)
  noteStrayCalls(prover, first.journal, undisturbed)
  if (first.journal.outsideCalls.some(({ isHarmless }) => !isHarmless)) {
    prover.notes.push('The remaining runs were skipped: every run would have made that call again.')
    return false
  }
  if (prover.differences(first.effect, prover.baseline.initial).length === 0)
    prover.notes.push('The messages changed nothing. If their effect is not in your tables, return it from observe().')
  checkSteady(prover, await clean(prover))
  for (const laterMs of clocks)
    await vary(prover, 'reads-clock', { ...usualPins, clockMs: usualPins.clockMs + laterMs })
  await vary(prover, 'reads-randomness', { ...usualPins, seed: 2 })
  return true
}

function clean<S extends Store>(prover: Prover<S>, pins = usualPins): Promise<RunOutcome> {
  return prover.run('undisturbed', { batches: prover.oneByOne(), isTracing: true, pins })
}

function notRunning<S extends Store>(prover: Prover<S>, { journal }: RunOutcome): false {
  for (const { handler, error } of journal.failures.slice(0, 1)) {
    const name = nameOf(error)
    const text = error instanceof Error ? error.message : String(error)
    const place = placeOf(error)
    const seen = [oneLine(text, 400), ...(place === undefined ? [] : [place])]
    if (name === 'writes-outside-tx')
      seen.push(
        'SQLite allows one writer at a time: while a handler runs, all writers except its own transaction must wait.',
      )
    if (isJustonceError(error, 'HANDLER_TIMEOUT'))
      seen.push('Does the handler use a second connection that waits for a row locked by its own transaction?')
    prover.found(name, { handlers: handler === '-' ? [] : [handler], where: undisturbed, seen, journal })
  }
  return false
}

function nameOf(error: unknown): FailureName {
  if (isJustonceError(error, 'TX_CONTROL') || isJustonceError(error, 'TX_ENDED')) return 'commits-itself'
  const isLocked = error instanceof Error && /database (?:table )?is locked/.test(error.message)
  return isLocked ? 'writes-outside-tx' : 'handler-fails'
}

async function vary<S extends Store>(
  prover: Prover<S>,
  name: 'reads-clock' | 'reads-randomness',
  pins: typeof usualPins,
): Promise<void> {
  const { effect } = await clean(prover, pins)
  const differences = prover.differences(effect)
  if (differences.length === 0) return
  const what = name === 'reads-clock' ? 'at a different time' : 'with different random numbers'
  const handlers = [...new Set(prover.messages.flatMap((message) => prover.handlersOf(message)))]
  const seen = [`The same messages were handled ${what}, and ${columnsOf(differences).join(', ')} changed:`]
  prover.found(name, { handlers, where: undisturbed, seen, differences })
}
