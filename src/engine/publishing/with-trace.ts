import type { Headers, TraceContext } from '../../contracts/index.ts'
import { traceIn } from '../../encoding/trace-context.ts'
import type { PublishOptions } from '../handler.ts'

/** The trace that runs now, if somebody can tell, or else that of the message that is being handled. */
export function traceNow(now: (() => Headers) | undefined, received: Headers | undefined): TraceContext | undefined {
  try {
    return traceIn(now?.()) ?? traceIn(received)
  } catch {
    // Tracing must not fail a handler.
    return traceIn(received)
  }
}

/** Adds the trace context, unless the options have one of their own. */
export function withTrace(
  options: PublishOptions | undefined,
  trace: TraceContext | undefined,
): PublishOptions | undefined {
  if (trace === undefined) return options
  const { headers = {}, ...rest } = options ?? {}
  // A header that is no object is refused with its own error.
  if (typeof headers !== 'object' || Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent'))
    return options
  return { ...rest, headers: { ...trace, ...headers } }
}
