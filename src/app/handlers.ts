import type { Handler } from '../engine/handler.ts'
import { JustonceError } from '../errors/index.ts'

/** The registered handlers. */
export class Handlers {
  readonly #byType = new Map<string, Handler[]>()
  readonly #byName = new Map<string, Handler>()

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()]
  }

  get longestTimeoutMs(): number {
    return Math.max(0, ...[...this.#byName.values()].map((handler) => handler.timeoutMs))
  }

  countOf(type: string): number {
    return this.#byType.get(type)?.length ?? 0
  }

  ofType(type: string): readonly Handler[] {
    return this.#byType.get(type) ?? []
  }

  named(name: string): Handler | undefined {
    return this.#byName.get(name)
  }

  /** Throws if no handler has this name. */
  get(name: string): Handler {
    const handler = this.#byName.get(name)
    if (handler !== undefined) return handler
    throw new JustonceError('OPTION_INVALID', {
      message: `There is no handler ${JSON.stringify(name)}. Handlers: ${this.names.join(', ')}.`,
    })
  }

  get all(): readonly Handler[] {
    return [...this.#byType.values()].flat()
  }

  /** Puts the handlers of a type into the given order. Each of them must be named exactly once. */
  order(type: string, names: readonly string[]): void {
    const handlers = this.ofType(type)
    const known = handlers.map(({ name }) => name)
    if (new Set(names).size !== names.length || [...names].sort().join('\n') !== [...known].sort().join('\n')) {
      throw new JustonceError('OPTION_INVALID', {
        message: `order(${JSON.stringify(type)}) names ${JSON.stringify(names)}, but the handlers of this type are ${JSON.stringify(known)}.`,
      })
    }
    const ordered = names.map((name, step) => ({ ...(this.#byName.get(name) as Handler), step }))
    this.#byType.set(type, ordered)
    for (const handler of ordered)
      for (const name of [handler.name, ...handler.formerly]) this.#byName.set(name, handler)
  }

  add(handler: Handler): void {
    const names = [handler.name, ...handler.formerly]
    for (const [index, name] of names.entries()) {
      // If it were claimed twice, a message would be taken for a duplicate of itself.
      if (names.indexOf(name) !== index) {
        throw new JustonceError('HANDLER_EXISTS', {
          message: `The handler ${JSON.stringify(handler.name)} lists the name ${JSON.stringify(name)} twice.`,
        })
      }
      const other = this.#byName.get(name)
      if (other !== undefined) {
        throw new JustonceError('HANDLER_EXISTS', {
          message: `The name ${JSON.stringify(name)} is taken by the handler of ${other.type}.`,
        })
      }
    }
    for (const name of names) this.#byName.set(name, handler)
    const handlers = this.#byType.get(handler.type)
    if (handlers === undefined) this.#byType.set(handler.type, [handler])
    else handlers.push(handler)
  }
}
