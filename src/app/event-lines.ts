import type { JustonceEvent } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'

const longest = 300

/** What an event says to a person who reads a log. `undefined` for successes and for what is only counted. */
export function lineOf(event: JustonceEvent): string | undefined {
  switch (event.kind) {
    case 'parked': {
      const { handler, key, attempts, state, reason, error } = event
      if (state === 'dead')
        return `dead letter: ${handler} gave up ${key} after ${times(attempts)}: ${reason}, ${said(error)}`
      return error === undefined
        ? undefined
        : `${handler} failed on ${key} (${times(attempts)}), tried again later: ${said(error)}`
    }
    case 'warning':
      return `warning ${event.code}: ${event.message}`
    case 'transport-notice':
      return `${event.transport}, ${event.code}: ${event.message}`
    case 'store-down':
      return `the store is away, everything is held until it is back: ${said(event.error)}`
    case 'store-up':
      return 'the store is back'
    case 'breaker-opened':
      return `${event.handler} has failed on ${event.failures} messages in a row and is only tried now and then: ${said(event.error)}`
    case 'breaker-closed':
      return `${event.handler} succeeds again`
    case 'key-blocked': {
      const { handler, orderKey, key, waiting, isFull } = event
      const next = isFull ? '; no more may wait, and what comes next becomes a dead letter, too' : ''
      return `${waiting} messages of the key ${orderKey} wait behind the dead letter ${key} of ${handler}: redrive or discard it${next}`
    }
    case 'stuck':
      return `message ${event.messageId} can be neither handled nor kept, and is held: ${said(event.error)}`
    case 'delivery-gone':
      return `message ${event.messageId} was in hand and is no longer in its queue, so nothing was done for it: another process has handled it, or the database was restored`
    case 'handlers-unknown':
      return `messages wait for handlers that no running app has: ${JSON.stringify(event.waiting)}`
    case 'destinations-unserved':
      return `published messages wait for destinations that this process does not serve, and nobody has sent them: ${JSON.stringify(event.waiting)}`
    case 'ticks-missed':
      return `nobody was there when the schedule ${event.schedule} should have ticked; messages made for it now: ${event.made} (missed: ${event.missed})`
    case 'outgoing-refused': {
      const { destination, messageId, attempts, state, error } = event
      const next = state === 'dead' ? 'it is a dead letter' : 'tried again later'
      return `${destination} refused ${messageId} (${times(attempts)}), ${next}: ${said(error)}`
    }
    case 'after-commit-failed':
      return `an afterCommit of ${event.handler} failed: ${said(event.error)}`
    case 'at-most-once-failed':
      return `${event.handler} failed on ${event.key} and does not run again (at-most-once): ${said(event.error)}`
    case 'late-call':
      return `${event.handler} did something after it had settled: ${said(event.error)}`
    case 'settle-failed':
      return `${event.deliveries} deliveries could not be settled and come again: ${said(event.error)}`
    case 'intent-failed': {
      const { effect, key, attempts, state, error } = event
      const next = state === 'given-up' ? 'it is given up and waits for an operator' : 'tried again later'
      return `the effect ${effect} failed on ${key} (${times(attempts)}), ${next}: ${said(error)}`
    }
    case 'intent-unknown':
      return `nobody knows whether the effect ${event.effect} happened for ${event.key} (${times(event.attempts)}), ${nextSteps[event.next]}: ${said(event.error)}`
    case 'intent-conflict':
      return `attempt ${event.attempt} of the effect ${event.effect} for ${event.key} succeeded after somebody had settled or repeated it: it may have happened twice`
    case 'effects-unknown':
      return `intents wait for effects that no running app has: ${JSON.stringify(event.waiting)}`
    case 'alert':
      return `alert, ${event.text}`
    case 'loop-failed':
      return `${event.loop}: ${said(event.error)}`
    case 'stop-unfinished':
      return `stopped after ${event.withinMs} ms although this had not ended: ${event.unfinished.join(', ')}`
    default:
      return undefined
  }
}

const nextSteps = {
  again: 'it is called again with the same key',
  probe: 'the provider is asked',
  person: 'it waits for an operator (operations.intents.resolve)',
  discarded: 'it is discarded, as its effect says',
}

function times(attempts: number): string {
  return attempts === 1 ? '1 attempt' : `${attempts} attempts`
}

function said(error: unknown): string {
  const text = error instanceof Error ? `${anyText(error.name)}: ${anyText(error.message)}` : anyText(error)
  return onOneLine(text, longest)
}

/**
 * Whatever was thrown, and whatever an id or a key contains, must not forge other log lines, send commands to a terminal or turn the
 * order of what is read.
 */
export function onOneLine(text: string, most: number): string {
  const line = text.slice(0, most * 2).replaceAll(/[\s\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
  return line.length > most ? `${line.slice(0, most)}…` : line
}
