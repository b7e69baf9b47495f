import { doneType, failedType } from '../encoding/intent-name.ts'
import type { EffectDirectory } from '../engine/engine.ts'
import { hintOf, JustonceError } from '../errors/index.ts'
import type { Effect } from './effect.ts'

/** The effects that an app has registered. */
export class Effects implements EffectDirectory {
  readonly #here = new Map<string, Effect>()
  readonly #elsewhere = new Set<string>()
  readonly #isHandled: (type: string) => boolean

  /** `isHandled`: whether the app has a handler for messages of this type. */
  constructor(isHandled: (type: string) => boolean = () => false) {
    this.#isHandled = isHandled
  }

  add(effect: Effect): void {
    this.#refuseTwice(effect.name)
    this.#here.set(effect.name, effect)
  }

  addElsewhere(name: string): void {
    this.#refuseTwice(name)
    this.#elsewhere.add(name)
  }

  get all(): readonly Effect[] {
    return [...this.#here.values()]
  }

  get(name: string): Effect | undefined {
    return this.#here.get(name)
  }

  isRunHere(name: string): boolean {
    return this.#here.has(name)
  }

  announced(name: string): readonly string[] {
    return [doneType(name), failedType(name)].filter(this.#isHandled)
  }

  check(name: string): void {
    if (this.#here.has(name) || this.#elsewhere.has(name)) return
    const known = [...this.#here.keys(), ...this.#elsewhere]
    const hint = known.length === 0 ? 'The app has no effects.' : hintOf(name, known)
    throw new JustonceError('EFFECT_UNKNOWN', {
      message: `intend() names the effect ${JSON.stringify(name)}, which this app does not know. ${hint}`,
    })
  }

  #refuseTwice(name: string): void {
    if (this.#here.has(name) || this.#elsewhere.has(name))
      throw new JustonceError('EFFECT_EXISTS', { message: `The app already has an effect ${JSON.stringify(name)}.` })
  }
}
