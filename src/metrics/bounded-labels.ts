/** How many values a label may have. Whatever comes after these is counted as `other`. */
const mostValues = 100
const longestValue = 120
const other = 'other'

/** The labels of one metric: a bounded number of values for each, whatever names an app and its messages bring. */
export class BoundedLabels {
  readonly #seen: readonly Set<string>[]

  constructor(labels: number) {
    this.#seen = Array.from({ length: labels }, () => new Set())
  }

  of(given: readonly string[]): readonly string[] {
    return given.map((value, place) => bounded(value, this.#seen[place] as Set<string>))
  }
}

function bounded(given: string, seen: Set<string>): string {
  const value = given.length > longestValue ? `${given.slice(0, longestValue - 1)}…` : given
  if (seen.has(value)) return value
  if (seen.size >= mostValues) return other
  seen.add(value)
  return value
}
