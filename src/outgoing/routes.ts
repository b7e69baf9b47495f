import { JustonceError } from '../errors/index.ts'

/** Maps a message type, or `prefix.*` for all types that begin with it, or `*` for the rest, to the name of a destination. */
export type Routes = Readonly<Record<string, string>>

/** Finds the target of a type, by its full name or a prefix. The most specific entry wins. */
export class RouteTable<Target> {
  readonly #exact: ReadonlyMap<string, Target>
  /** Longest first, because it is the most specific. */
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

  /** As they were given, for error messages. */
  get patterns(): readonly string[] {
    return [...this.#exact.keys(), ...this.#beginnings.map(([beginning]) => `${beginning}*`)]
  }
}

function isPattern(pattern: string): boolean {
  return pattern === '*' || pattern.endsWith('.*')
}

/** `what` names what the pattern is for, for the error message. */
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
