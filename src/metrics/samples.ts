import { BoundedLabels } from './bounded-labels.ts'
import type { MetricDefinition } from './definitions.ts'

export interface Sample {
  readonly labels: readonly string[]
  readonly value: number
}

/** The numbers of one metric, by the values of its labels: bounded, whatever the values are. */
export class Samples {
  readonly #definition: MetricDefinition
  readonly #bounds: BoundedLabels
  readonly #samples = new Map<string, { readonly labels: readonly string[]; value: number }>()

  constructor(definition: MetricDefinition) {
    this.#definition = definition
    this.#bounds = new BoundedLabels(definition.labels.length)
  }

  add(labels: readonly string[], value: number): void {
    const known = this.#sample(labels)
    known.value = this.#definition.others === 'largest' ? Math.max(known.value, value) : known.value + value
  }

  all(): readonly Sample[] {
    return [...this.#samples.values()]
  }

  /** One line for each combination, in the text format of Prometheus. */
  lines(name: string): string {
    const { type, help, labels } = this.#definition
    const lines = [...this.#samples.values()].map(
      (sample) => `${name}${labelsOf(labels, sample.labels)} ${numberOf(sample.value)}`,
    )
    // A counter without labels is 0 from the start; all others appear when there is something to say.
    if (lines.length === 0 && labels.length === 0 && type === 'counter') lines.push(`${name} 0`)
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
  }

  #sample(given: readonly string[]) {
    const labels = this.#bounds.of(given)
    const name = JSON.stringify(labels)
    const known = this.#samples.get(name)
    if (known !== undefined) return known
    const made = { labels, value: 0 }
    this.#samples.set(name, made)
    return made
  }
}

function labelsOf(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return ''
  return `{${names.map((name, place) => `${name}="${escaped(values[place] ?? '')}"`).join(',')}}`
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }

/** A lone surrogate or a control character would make some readers refuse the whole text. */
function escaped(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
  const clean = value.toWellFormed().replace(/[\u0000-\u0009\u000b-\u001f\u007f\u2028\u2029]/g, '\ufffd')
  return clean.replace(/[\\"\n]/g, (each) => escapes[each] as string)
}

function numberOf(value: number): string {
  return Number.isFinite(value) ? String(value) : 'NaN'
}
