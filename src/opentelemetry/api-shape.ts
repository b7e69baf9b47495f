/** The parts of `@opentelemetry/api` that are used; any version that has them will do. */
export interface SpanContextShape {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
}

export interface SpanShape {
  setAttribute(name: string, value: string | number | boolean): unknown
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  recordException(error: Error | string): void
  spanContext(): SpanContextShape
  end(at?: Date | number): void
}

export interface SpanOptionsShape {
  readonly kind?: number
  readonly startTime?: Date | number
  readonly attributes?: Record<string, string | number | boolean>
  readonly links?: { readonly context: SpanContextShape }[]
}

/** The part of `@opentelemetry/api` that is used. */
export interface ApiShape {
  readonly trace: {
    getTracer(
      name: string,
      version?: string,
    ): { startSpan(name: string, options?: SpanOptionsShape, context?: never): SpanShape }
    setSpan(context: never, span: never): unknown
    getSpanContext(context: never): SpanContextShape | undefined
  }
  readonly context: {
    active(): unknown
    with(context: never, work: () => unknown): unknown
  }
  readonly propagation: {
    extract(context: never, carrier: unknown): unknown
    inject(context: never, carrier: unknown): void
  }
}
