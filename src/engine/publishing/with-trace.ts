import type { Headers } from '../../contracts/index.ts'
import type { PublishOptions } from '../handler.ts'

const trace = ['traceparent', 'tracestate'] as const

/** Adds the W3C trace context of the message that is being handled, unless the options have one of their own. */
export function withTrace(options: PublishOptions | undefined, from: Headers | undefined): PublishOptions | undefined {
  if (from === undefined || !('traceparent' in from)) return options
  const { headers = {}, ...rest } = options ?? {}
  // A header that is no object is refused with its own error.
  if (typeof headers !== 'object' || Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent'))
    return options
  const carried = Object.fromEntries(trace.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))
  return { ...rest, headers: { ...carried, ...headers } }
}
