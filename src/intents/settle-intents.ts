import type { NewParkedMessage, ParkedChange, StoredParkedMessage } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'
import { shapeOf } from '../encoding/error-shape.ts'
import { doneType, effectOf, failedType, isAnnounced } from '../encoding/intent-name.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import type { Engine } from '../engine/engine.ts'
import { encodeBody } from '../engine/publishing/encode-body.ts'
import { isJustonceError } from '../errors/index.ts'
import { type IntentOutcome, outcomeMessage } from '../operations/outcome-message.ts'
import { recordIntents } from '../operations/record-intents.ts'
import type { Effect } from './effect.ts'
import type { Verdict } from './verdict.ts'

/** An attempt, a probe or a discovery that has ended, and what follows from it. */
export interface Ending {
  readonly effect: Effect
  readonly letter: StoredParkedMessage
  /** The revision that the row had when it was last ours. */
  readonly revision: number
  /** Attempts that have begun, including this one. */
  readonly attempts: number
  readonly verdict: Verdict
  /** The error history after it. */
  readonly errors: string
  /** What a provider has answered, not the end of an attempt. */
  readonly isAnswer: boolean
  /** It ended after it had already counted as unknown. */
  readonly isLate: boolean
}

/** Writes what follows from endings whose rows this transaction has taken. */
export async function settleIntents<Tx>(engine: Engine<Tx>, tx: Tx, endings: readonly Ending[]): Promise<void> {
  const { store } = engine
  const ended = endings.flatMap(({ letter, verdict }) => {
    if (verdict.kind === 'done') return { row: letter, state: 'processed' as const, result: verdict.result }
    if (verdict.kind === 'discarded') return { row: letter, state: 'discarded' as const, result: undefined }
    return []
  })
  await recordIntents(store.inbox, tx, ended)
  const messages = endings.flatMap((ending) => messageOf(engine, ending) ?? [])
  if (messages.length > 0) await store.parking.park(tx, messages)
  await store.parking.change(tx, endings.map(changeOf))
}

function changeOf({ letter, attempts, verdict, errors }: Ending): ParkedChange {
  const { handler, key } = letter
  if (verdict.kind === 'done' || verdict.kind === 'discarded') return { handler, key, kind: 'done' }
  const shape = shapeOf(verdict.error)
  switch (verdict.kind) {
    case 'failed':
      return { handler, key, kind: 'again', attempts, delayMs: verdict.delayMs, reason: 'INTENT_FAILED', errors, shape }
    case 'unknown':
      return {
        handler,
        key,
        kind: 'again',
        attempts,
        delayMs: verdict.delayMs,
        reason: 'INTENT_UNKNOWN',
        errors,
        shape,
      }
    case 'person':
      return { handler, key, kind: 'dead', attempts, reason: 'INTENT_UNKNOWN', errors, shape }
    case 'given-up':
      return { handler, key, kind: 'dead', attempts, reason: 'INTENT_GIVEN_UP', errors, shape }
  }
}

/** The message about it, if anybody wants it. */
function messageOf<Tx>(
  engine: Engine<Tx>,
  { effect, letter, attempts, verdict }: Ending,
): NewParkedMessage | undefined {
  const outcome = outcomeOf(verdict)
  if (outcome === undefined || effect.announce === false) return undefined
  const name = effectOf(letter.handler)
  const type = outcome.kind === 'done' ? doneType(name) : failedType(name)
  const isWanted =
    effect.announce === true ||
    engine.handlersOf(type).length > 0 ||
    isAnnounced(unpackLetter(letter.message).headers, type)
  if (!isWanted) return undefined
  const encode = (value: unknown): Uint8Array | undefined => encodeSomehow(engine, value, type)
  return outcomeMessage({ ...letter, attempts }, outcome, { clock: engine.clock, encode })
}

/** The call is over and cannot be undone, so a codec must not keep its outcome from being stored. What it cannot read is a dead letter. */
function encodeSomehow<Tx>({ codecOf, events }: Engine<Tx>, value: unknown, type: string): Uint8Array | undefined {
  try {
    return encodeBody(value, type, codecOf(type))
  } catch (error) {
    if (!isJustonceError(error)) throw error
    events.emit({ kind: 'warning', code: error.code, message: error.message })
    return encodeBody(value, type, undefined)
  }
}

function outcomeOf(verdict: Verdict): IntentOutcome | undefined {
  if (verdict.kind === 'done') return verdict
  if (verdict.kind === 'given-up' || verdict.kind === 'discarded')
    return { kind: verdict.kind, error: anyText(verdict.error) }
  return undefined
}
