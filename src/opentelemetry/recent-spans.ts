import type { SpanContextShape } from './api-shape.ts'

/** As many as a process remembers: a duplicate mostly comes soon. */
const most = 10_000

/** Which span did the work for a record, for duplicates that come to the same process. */
export class RecentSpans {
  readonly #spans = new Map<string, SpanContextShape>()

  add(handler: string, key: string, span: SpanContextShape): void {
    const name = JSON.stringify([handler, key])
    this.#spans.delete(name)
    this.#spans.set(name, span)
    if (this.#spans.size > most) this.#spans.delete(this.#spans.keys().next().value as string)
  }

  of(handler: string, key: string): SpanContextShape | undefined {
    return this.#spans.get(JSON.stringify([handler, key]))
  }
}
