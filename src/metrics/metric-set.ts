import type { MetricDefinition } from './definitions.ts'
import { type Sample, Samples } from './samples.ts'

/** The numbers of several metrics. */
export class MetricSet<Name extends string> {
  readonly #metrics: ReadonlyMap<string, Samples>

  constructor(definitions: Readonly<Record<Name, MetricDefinition>>) {
    const entries = Object.entries<MetricDefinition>(definitions)
    this.#metrics = new Map(entries.map(([name, definition]) => [name, new Samples(definition)] as const))
  }

  add(name: Name, value: number, ...labels: readonly string[]): void {
    this.#metrics.get(name)?.add(labels, value)
  }

  samplesOf(name: Name): readonly Sample[] {
    return this.#metrics.get(name)?.all() ?? []
  }

  /** In the text format of Prometheus. */
  text(): string {
    return [...this.#metrics].map(([name, samples]) => samples.lines(name)).join('')
  }
}
