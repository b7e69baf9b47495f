import type { SpanContextShape } from './api-shape.ts'

/** As many as a process remembers at least, and half of what it remembers at most: a duplicate mostly comes soon. */
const most = 5_000

/** Which span did the work for a record, for duplicates that come to the same process. */
export class RecentSpans {
  #spans = new Map<string, SpanContextShape>()
  /** Forgotten together: forgetting the oldest of each message costs as much as all the rest. */
  #before: ReadonlyMap<string, SpanContextShape> = new Map()

  add(handler: string, key: string, span: SpanContextShape): void {
    if (this.#spans.size >= most) {
      this.#before = this.#spans
      this.#spans = new Map()
    }
    this.#spans.set(nameOf(handler, key), span)
  }

  of(handler: string, key: string): SpanContextShape | undefined {
    const name = nameOf(handler, key)
    return this.#spans.get(name) ?? this.#before.get(name)
  }
}

/** Unique for each pair. */
function nameOf(handler: string, key: string): string {
  return `${handler.length} ${handler}${key}`
}
