import type { JustonceEvent } from '../contracts/index.ts'
import { lineOf, onOneLine } from './event-lines.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

/** The part of a logger that is used: pino, bunyan, and what Fastify and Nest with pino hand out. */
export type Logger = Readonly<Record<Level, (fields: object, text: string) => void>>

const longestLine = 1_000

/**
 * A listener that writes events to a logger: what was processed as `debug`, duplicates as `info`, trouble as `warn`, and what needs
 * somebody as `error`. Each line has the event's own fields, and its error as `err`.
 *
 * ```ts
 * app.events.listen(logEvents(pino()))
 * ```
 */
export function logEvents(logger: Logger): (event: JustonceEvent) => void {
  return (event) => {
    const text = textOf(event)
    if (text === undefined) return
    const { error, ...fields } = event as JustonceEvent & { readonly error?: unknown }
    logger[levelOf(event)](error === undefined ? fields : { ...fields, err: error }, onOneLine(text, longestLine))
  }
}

function textOf(event: JustonceEvent): string | undefined {
  switch (event.kind) {
    case 'processed':
      return `${event.handler} processed ${event.key}`
    case 'duplicate': {
      const since = event.processedAt === undefined ? '' : `, processed at ${event.processedAt.toISOString()}`
      return `${event.handler} skipped ${event.key}: a duplicate from ${event.source}${since}`
    }
    default:
      return lineOf(event)
  }
}

function levelOf(event: JustonceEvent): Level {
  switch (event.kind) {
    case 'processed':
      return 'debug'
    case 'duplicate':
    case 'store-up':
    case 'breaker-closed':
      return 'info'
    case 'parked':
    case 'outgoing-refused':
      return event.state === 'dead' ? 'error' : 'warn'
    case 'intent-failed':
      return event.state === 'given-up' ? 'error' : 'warn'
    case 'intent-unknown':
      return event.next === 'person' ? 'error' : 'warn'
    case 'store-down':
    case 'stuck':
    case 'intent-conflict':
    case 'breaker-opened':
    case 'at-most-once-failed':
      return 'error'
    default:
      return 'warn'
  }
}
