import type { Headers, TraceContext } from '../contracts/index.ts'

/** Later versions of the format may have more behind it. */
const wellFormed = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-|$)/
const longestParent = 100
/** Nobody is obliged to pass on more. */
const longestState = 512

/** What there is of it in headers. Whoever sends a message may put anything there: what is malformed or too long is left out. */
export function traceIn(headers: Headers | undefined): TraceContext | undefined {
  const { traceparent, tracestate } = headers ?? {}
  if (typeof traceparent !== 'string' || traceparent.length > longestParent || !wellFormed.test(traceparent))
    return undefined
  const isPassedOn = typeof tracestate === 'string' && tracestate.length <= longestState
  return isPassedOn ? { traceparent, tracestate } : { traceparent }
}
