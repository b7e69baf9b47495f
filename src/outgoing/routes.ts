import { JustonceError } from '../errors/index.ts'

/** From a type of message, or `prefix.*` for all that begin so, or `*` for the rest, to the name of a destination. */
export type Routes = Readonly<Record<string, string>>

/** What stands for a type, by its name or its beginning. What says most wins. */
export class RouteTable<Target> {
  readonly #exact: ReadonlyMap<string, Target>
  /** The longest first: it says most. */
  readonly #beginnings: readonly (readonly [beginning: string, target: Target])[]

  constructor(routes: Readonly<Record<string, Target>>) {
    const entries = Object.entries(routes)
    this.#exact = new Map(entries.filter(([pattern]) => !isPattern(pattern)))
    this.#beginnings = entries
      .filter(([pattern]) => isPattern(pattern))
      .map(([pattern, target]) => [pattern.slice(0, -1), target] as const)
      .sort(([a], [b]) => b.length - a.length)
  }

  find(type: string): Target | undefined {
    return this.#exact.get(type) ?? this.#beginnings.find(([beginning]) => type.startsWith(beginning))?.[1]
  }

  /** As they were given, for errors. */
  get patterns(): readonly string[] {
    return [...this.#exact.keys(), ...this.#beginnings.map(([beginning]) => `${beginning}*`)]
  }
}

function isPattern(pattern: string): boolean {
  return pattern === '*' || pattern.endsWith('.*')
}

/** `what` is what the pattern is given for, to say so. */
export function checkPattern(pattern: string, what: string): void {
  if (!/^[^*]+$|^[^*]+\.\*$|^\*$/.test(pattern))
    throw invalid(`${what} ${JSON.stringify(pattern)} is neither a type nor prefix.* nor *.`)
}

export function checkRoutes(routes: unknown, destinations: readonly string[]): void {
  if (typeof routes !== 'object' || routes === null || Array.isArray(routes))
    throw invalid("routes must be an object such as { 'note.*': 'events' }.")
  for (const [pattern, destination] of Object.entries(routes)) {
    checkPattern(pattern, 'The route')
    if (!destinations.includes(destination as string)) {
      const known = destinations.map((name) => JSON.stringify(name)).join(', ') || 'none'
      throw invalid(
        `The route ${JSON.stringify(pattern)} leads to ${JSON.stringify(destination)}, and to has ${known}.`,
      )
    }
  }
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
