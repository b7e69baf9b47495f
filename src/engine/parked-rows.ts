import { hash } from 'node:crypto'
import type { IncomingMessage, NewParkedMessage } from '../contracts/index.ts'
import { cleanText } from '../encoding/clean-text.ts'
import { packMessage } from '../encoding/packed-message.ts'
import { JustonceError } from '../errors/index.ts'
import { addErrorNote, judge, type Verdict } from './failure-policy.ts'
import type { Refusal, Run, RunOutcome } from './work.ts'

/** The handler name of dead letters that reached no handler. */
export const unrouted = '-'

export function failedRow<Tx>(run: Run<Tx>, error: unknown, at: Date, random: number): NewParkedMessage {
  return row(run, judge(error, run.handler.retry, 0, random), addErrorNote('', error, at))
}

export function waitingRow<Tx>(run: Run<Tx>): NewParkedMessage {
  return row(run, { state: 'waiting', reason: 'WAITS_FOR_EARLIER_HANDLER', attempts: 0, delayMs: 0 }, '[]')
}

/**
 * A conflict is kept under a key of its own: the plain key belongs to the message that was there first. The content is
 * part of it, so that a second copy of the conflicting message adds nothing.
 */
export function conflictRow<Tx>(run: Run<Tx>, outcome: RunOutcome & { kind: 'conflict' }, at: Date): NewParkedMessage {
  const error = keyReused(run, outcome)
  const content = Buffer.from(run.fingerprint ?? []).toString('hex')
  return {
    ...row(run, { state: 'dead', reason: 'KEY_REUSED', attempts: 0, delayMs: 0 }, addErrorNote('', error, at)),
    key: `${run.key}#${content}`,
    step: holdsUpNobody + run.handler.step,
  }
}

export function keyReused<Tx>(run: Run<Tx>, { record }: RunOutcome & { kind: 'conflict' }): JustonceError {
  return new JustonceError('KEY_REUSED', {
    message: `Handler ${run.handler.name} has already seen the key ${run.key} with different content, at ${record.processedAt.toISOString()}.`,
  })
}

/**
 * A message that reached no handler. It is known by its content, so that a second copy adds nothing: the id alone will
 * not do, because another message may have the same one, in another type or from another source.
 */
export function refusedRow(refusal: Refusal, at: Date): NewParkedMessage {
  const { message } = refusal.delivery
  return {
    handler: unrouted,
    key: refusedKey(refusal),
    ...described(message),
    step: holdsUpNobody,
    independent: true,
    state: 'dead',
    reason: refusal.error.code,
    attempts: 0,
    delayMs: 0,
    errors: addErrorNote('', refusal.error, at),
  }
}

function row<Tx>(run: Run<Tx>, verdict: Verdict, errors: string): NewParkedMessage {
  const { handler, key, work } = run
  return {
    handler: handler.name,
    key,
    ...described(work.delivery.message),
    step: handler.step,
    independent: handler.independent,
    errors,
    ...verdict,
  }
}

/** Nothing here may throw: a message that cannot be kept would block all others. */
function described(message: IncomingMessage) {
  return {
    messageId: cleanText(String(message.id ?? contentId(message)), 300),
    type: cleanText(String(message.type ?? ''), 300),
    source: cleanText(String(message.source), 300),
    message: packMessage(message),
  }
}

/**
 * Later steps of the same message id wait for earlier ones. What was refused, or is another message under the same id,
 * is no step of it.
 */
const holdsUpNobody = 1_000_000

export function refusedKey({ delivery: { message }, error }: Refusal): string {
  const { id, type, source, body } = message
  if (id === undefined || error.code === 'MESSAGE_ID_INVALID') return contentId(message)
  const content = hash('sha256', Buffer.concat([Buffer.from(JSON.stringify([type, source])), body]), 'hex')
  return `${id}#${content.slice(0, 16)}`
}

function contentId(message: IncomingMessage): string {
  const packed = packMessage(message)
  return `content-${hash('sha256', Buffer.concat([packed.envelope, packed.body]), 'hex').slice(0, 32)}`
}
