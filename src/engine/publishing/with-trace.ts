import type { Headers } from '../../contracts/index.ts'
import type { PublishOptions } from '../handler.ts'

const trace = ['traceparent', 'tracestate'] as const

/** The headers of the trace that runs now, if somebody can tell, or else those of the message that is being handled. */
export function traceNow(now: (() => Headers) | undefined, received: Headers | undefined): Headers | undefined {
  if (now === undefined) return received
  try {
    const headers = now()
    return typeof headers?.traceparent === 'string' ? headers : received
  } catch {
    // Tracing must not fail a handler.
    return received
  }
}

/** Adds the W3C trace context, unless the options have one of their own. */
export function withTrace(options: PublishOptions | undefined, from: Headers | undefined): PublishOptions | undefined {
  if (from === undefined || !('traceparent' in from)) return options
  const { headers = {}, ...rest } = options ?? {}
  // A header that is no object is refused with its own error.
  if (typeof headers !== 'object' || Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent'))
    return options
  const carried = Object.fromEntries(trace.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))
  return { ...rest, headers: { ...carried, ...headers } }
}
