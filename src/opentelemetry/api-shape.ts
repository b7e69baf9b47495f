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
  /** Needed for `measure()` only. */
  readonly metrics?: { getMeter(name: string, version?: string): MeterShape }
  readonly context: {
    active(): unknown
    with(context: never, work: () => unknown): unknown
  }
  readonly propagation: {
    extract(context: never, carrier: unknown): unknown
    inject(context: never, carrier: unknown): void
  }
}

/** What is measured by this process itself, when a reader asks for it. */
export interface ObserverShape {
  observe(instrument: never, value: number, attributes?: Record<string, string>): void
}

export interface InstrumentOptionsShape {
  readonly description?: string
  readonly unit?: string
}

export interface MeterShape {
  createObservableCounter(name: string, options?: InstrumentOptionsShape): object
  createObservableGauge(name: string, options?: InstrumentOptionsShape): object
  createHistogram(
    name: string,
    options?: InstrumentOptionsShape,
  ): { record(value: number, attributes?: Record<string, string>): void }
  addBatchObservableCallback(callback: (observer: ObserverShape) => Promise<void>, observables: never[]): void
  removeBatchObservableCallback(callback: (observer: ObserverShape) => Promise<void>, observables: never[]): void
}
