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

  add(handler: Handler): void {
    const names = [handler.name, ...handler.formerly]
    for (const [index, name] of names.entries()) {
      // Claimed twice, a message would be taken for a duplicate of itself.
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
