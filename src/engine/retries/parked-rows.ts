import { hash } from 'node:crypto'
import type {
  IncomingMessage,
  NewParkedMessage,
  ParkedChange,
  ParkedReason,
  StoredParkedMessage,
} from '../../contracts/index.ts'
import { anyJson, anyText } from '../../encoding/any-text.ts'
import { addErrorNote, readErrorNotes } from '../../encoding/error-notes.ts'
import { shapeOf } from '../../encoding/error-shape.ts'
import { fittedText, plainText } from '../../encoding/fit-text.ts'
import { noteOf, packMessage } from '../../encoding/packed-message.ts'
import { unrouted } from '../../encoding/unrouted.ts'
import { type ErrorCode, isJustonceError, JustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import {
  isParkedUnclaimed,
  isUnclaimed,
  type Refusal,
  type Run,
  type RunOutcome,
  rowKeyOf,
  unclaimedKeyOf,
} from '../items.ts'
import { orderKeyOf } from '../order/key-order.ts'
import { judge, type Verdict } from '../recovery/failure-policy.ts'

type Failed = RunOutcome & { kind: 'failed' }

export function failedRow<Tx>(run: Run<Tx>, outcome: Failed, at: Date): NewParkedMessage {
  const { error, verdict } = outcome
  const key = failedKeyOf(run, outcome)
  // If it replaces a row of a redrive, that redrive has failed with it. A row that only waits has not failed.
  const redrive = run.origin.letter?.redrive
  return fitting(run, { ...row(run, verdict), ...explained('', error, verdict, at), key, redrive })
}

/** The key of the row of a failed run. */
export function failedKeyOf<Tx>(run: Run<Tx>, outcome: Failed): string {
  return run.owner?.key ?? (isUnclaimed(outcome) ? unclaimedKeyOf(run) : rowKeyOf(run))
}

function fitting<Tx>({ isPlain }: Run<Tx>, row: NewParkedMessage): NewParkedMessage {
  return isPlain ? plainRow(row) : row
}

/** The change to a parked message whose attempt has failed. */
export function failedAgain(
  { handler, key, errors, reason }: StoredParkedMessage,
  { error, verdict }: Pick<Failed, 'error' | 'verdict'>,
  at: Date,
  isPlain = false,
): ParkedChange {
  const { attempts, delayMs } = verdict
  const said = explained(errors, error, isPartly(reason) ? { ...verdict, reason } : verdict, at)
  const why = isPlain ? plainReason(said) : said
  return verdict.state === 'dead'
    ? { handler, key, kind: 'dead', attempts, ...why }
    : { handler, key, kind: 'again', attempts, delayMs, ...why }
}

/** Adds the verdict on the parked row, if there is one: a parked message that cannot even be given to its handler. */
export function judgedRefusal<Tx>(engine: Engine<Tx>, refusal: Refusal): Refusal {
  const { letter, error } = refusal
  if (letter === undefined) return refusal
  const retry = engine.handlerNamed(letter.handler)?.retry
  const verdict: Verdict =
    retry === undefined
      ? { state: 'dead', reason: error.code, attempts: letter.attempts + 1, delayMs: 0 }
      : judge(error, retry, letter.attempts, engine.clock.random())
  return { ...refusal, verdict: { ...verdict, reason: reasonNow(letter, error) } }
}

/** The change to that row; `undefined` if there is none. */
export function changedLetter({ letter, verdict, error }: Refusal, at: Date): ParkedChange | undefined {
  return letter === undefined || verdict === undefined ? undefined : failedAgain(letter, { error, verdict }, at)
}

/** A reason that says that nothing is claimed stays until there is a claim: without it the row would be run without one. */
export function reasonNow(letter: StoredParkedMessage, { code }: JustonceError): ErrorCode {
  return isParkedUnclaimed(letter) || isPartly(letter.reason) ? (letter.reason as ErrorCode) : code
}

/** It stays for good: what was applied of the message is still there after an attempt that has failed in another way. */
function isPartly(reason: string): reason is 'PARTLY_APPLIED' {
  return reason === 'PARTLY_APPLIED'
}

export const waitsFor = {
  handler: 'WAITS_FOR_EARLIER_HANDLER',
  message: 'WAITS_FOR_EARLIER_MESSAGE',
  breaker: 'WAITS_FOR_BREAKER',
} as const

/**
 * The change to a parked message that nothing can retry any more. It becomes a dead letter that blocks no later handler of
 * its message, and keeps its place among the messages of its order key.
 */
export function abandoned(letter: StoredParkedMessage, error: JustonceError, at: Date): ParkedChange {
  const { handler, key, attempts, step } = letter
  return {
    ...{ handler, key, kind: 'dead', attempts, step: step < holdsUpNobody ? holdsUpNobody + step : step },
    ...explained(letter.errors, error, { reason: reasonNow(letter, error) }, at),
  }
}

export function waitingRow<Tx>(
  run: Run<Tx>,
  { behind, under }: RunOutcome & { kind: 'waiting' },
  at: Date,
): NewParkedMessage {
  const reason = waitsFor[behind]
  const bare = row(run, { state: 'waiting', reason, attempts: 0, delayMs: 0 })
  return fitting(run, { ...bare, handler: under ?? bare.handler, reason, errors: notedShard(run, at), shape: '' })
}

/** When its turn comes, it must be known that its shard was not. */
function notedShard<Tx>({ failure }: Run<Tx>, at: Date): string {
  const { error } = failure ?? {}
  return isJustonceError(error, 'SHARD_UNKNOWN') ? addErrorNote('', `${error.code}: ${error.message}`, at) : '[]'
}

/** Whether it was given up before it came here. */
export function wasGivenUp({ reason, errors }: StoredParkedMessage): boolean {
  if (reason === 'BROKER_GAVE_UP' || reason === 'SHARD_UNKNOWN') return true
  const isUntried = Object.values<string>(waitsFor).includes(reason)
  return isUntried && readErrorNotes(errors).some(({ message }) => message.startsWith('SHARD_UNKNOWN: '))
}

/**
 * A message that reuses a key is kept under one of its own, because the plain key belongs to the message that came first.
 * It includes the content, so that a second copy adds nothing.
 */
export function reusedKeyRow<Tx>(
  run: Run<Tx>,
  outcome: RunOutcome & { kind: 'key-reused' },
  at: Date,
): NewParkedMessage {
  const verdict: Verdict = { state: 'dead', reason: 'KEY_REUSED', attempts: 0, delayMs: 0 }
  const content = Buffer.from(run.fingerprint ?? []).toString('hex')
  return {
    ...row(run, verdict),
    ...explained('', keyReused(run, outcome), verdict, at),
    orderKey: undefined,
    key: `${run.key}#${content}`,
    step: holdsUpNobody + run.handler.step,
  }
}

export function keyReused<Tx>(run: Run<Tx>, { record }: RunOutcome & { kind: 'key-reused' }): JustonceError {
  return new JustonceError('KEY_REUSED', {
    message: `Handler ${run.handler.name} has already seen the key ${run.key} with different content, at ${record.processedAt.toISOString()}.`,
  })
}

/**
 * A message that reached no handler. It is identified by its content, so that a second copy adds nothing. The id alone
 * is not enough, because another message may have the same one, in another type or from another source.
 */
export function refusedRow(refusal: Refusal, at: Date): NewParkedMessage {
  const { message } = refusal.delivery
  const row: NewParkedMessage = {
    handler: unrouted,
    key: refusedKey(refusal),
    ...described(message),
    step: holdsUpNobody,
    independent: true,
    orderKey: undefined,
    state: 'dead',
    attempts: 0,
    delayMs: 0,
    ...explained('', refusal.error, { reason: refusal.error.code }, at),
  }
  if (refusal.form === undefined) return row
  return { ...plainRow(row), message: refusal.form === 'note' ? noteOf(message) : row.message }
}

/** ASCII only, except for the message itself, which is bytes: that fits every database. */
function plainRow(row: NewParkedMessage): NewParkedMessage {
  const ascii = (text: string): string => fittedText(plainText(text))
  const { messageId, type, source } = row
  return { ...row, messageId: ascii(messageId), type: ascii(type), source: ascii(source), ...plainReason(row) }
}

/** The JSON stays equivalent. */
function plainReason({ reason, errors, shape }: ParkedReason): ParkedReason {
  return { reason, errors: plainText(errors), shape: fittedText(plainText(shape)) }
}

function explained(
  history: string,
  error: unknown,
  { reason, complaint }: Pick<Verdict, 'reason' | 'complaint'>,
  at: Date,
): ParkedReason {
  const errors = addErrorNote(history, error, at)
  return {
    reason,
    shape: shapeOf(error),
    errors: complaint === undefined ? errors : addErrorNote(errors, complaint, at),
  }
}

function row<Tx>(run: Run<Tx>, { state, attempts, delayMs }: Verdict): Omit<NewParkedMessage, keyof ParkedReason> {
  const { handler, delivery } = run
  return {
    handler: handler.name,
    key: rowKeyOf(run),
    ...described(delivery.message),
    step: handler.step,
    independent: handler.independent,
    orderKey: orderKeyOf(run),
    state,
    attempts,
    delayMs,
    originalBody: run.origin.letter?.originalBody,
  }
}

/** Nothing here may throw: a message that cannot be kept would block all others. */
function described(message: IncomingMessage) {
  return {
    messageId: fittedText(anyText(message.id ?? contentId(message))),
    type: fittedText(anyText(message.type ?? '')),
    source: fittedText(anyText(message.source)),
    message: packMessage(message),
  }
}

/**
 * Later steps of a message id wait for earlier ones. A message that was refused, or that is another message under the
 * same id, is not a step.
 */
const holdsUpNobody = 1_000_000

export function refusedKey(refusal: Refusal): string {
  return `${keyByContent(refusal)}${refusal.mark ?? ''}`
}

function keyByContent({ delivery: { message }, error, form }: Refusal): string {
  const { id, type, source, body } = message
  if (typeof id !== 'string' || error.code === 'MESSAGE_ID_INVALID' || form !== undefined) return contentId(message)
  const content = hash('sha256', Buffer.concat([Buffer.from(anyJson([type, source])), body]), 'hex')
  return `${id}#${content.slice(0, 16)}`
}

function contentId(message: IncomingMessage): string {
  const packed = packMessage(message)
  return `content-${hash('sha256', Buffer.concat([packed.envelope, packed.body]), 'hex').slice(0, 32)}`
}
