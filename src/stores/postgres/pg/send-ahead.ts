import type { Statement } from '../statement.ts'
import type { PgWire } from './round-trip.ts'
import { WireMessages } from './wire-messages.ts'

type Wire = Pick<PgWire, 'emit' | 'stream'>

interface Sent {
  failure: unknown
  resolve(): void
  reject(error: unknown): void
}

/** What the server says about statements that return no rows. */
const answers = new Set(['parseComplete', 'bindComplete', 'noData', 'commandComplete', 'emptyQuery'])

const underWay = new WeakMap<Wire, Sent[]>()

/**
 * Sends statements without rows, so that the next query of the client, whatever it is, follows without waiting for their
 * answers. Only while the client is idle. The server answers in order, so everything up to its next readiness belongs to
 * these statements, and the client must not see it.
 */
export function sendAhead(wire: Wire, statements: readonly Statement[]): Promise<void> {
  const messages = new WireMessages()
  for (const { text } of statements) {
    messages.parse('', text)
    messages.bind('', [])
    messages.execute()
  }
  messages.sync()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const sent: Sent = { failure: undefined, resolve, reject }
  const others = underWay.get(wire)
  if (others === undefined) intercept(wire, sent)
  else others.push(sent)
  wire.stream.write(messages.bytes())
  return promise
}

function intercept(wire: Wire, first: Sent): void {
  const waiting = [first]
  const { emit } = wire
  underWay.set(wire, waiting)
  const stop = (): void => {
    underWay.delete(wire)
    wire.emit = emit
  }
  wire.emit = (event, ...values) => {
    const [current] = waiting
    if (current === undefined || answers.has(event)) return current !== undefined
    if (event === 'errorMessage') {
      current.failure ??= values[0]
      return true
    }
    if (event === 'readyForQuery') {
      waiting.shift()
      if (waiting.length === 0) stop()
      if (current.failure === undefined) current.resolve()
      else current.reject(current.failure)
      return true
    }
    if (event === 'end' || event === 'error') {
      stop()
      const error = values[0] ?? new Error('Connection terminated unexpectedly')
      for (const each of waiting) each.reject(current.failure ?? error)
    }
    return emit.call(wire, event, ...values)
  }
}
