import { AsyncLocalStorage } from 'node:async_hooks'
import type { OutsideCall } from './journal.ts'
import type { Pins } from './pins.ts'

/** What is known about the handler that is running, available anywhere in its code. */
export interface Inside {
  readonly handler: string
  readonly messageId: string
  /** The URL of the scratch database, or the path of its file. */
  readonly database: string
  readonly pins: Pins
  readonly reads: { clock: number; random: number }
  leaves(call: Pick<OutsideCall, 'kind' | 'what' | 'isHarmless'>): OutsideCall
}

const storage = new AsyncLocalStorage<Inside | undefined>()

export function runInside<T>(inside: Inside, work: () => T): T {
  return storage.run(inside, work)
}

/** For calls that only happen to come from inside a handler. */
export function runOutside<T>(work: () => T): T {
  return storage.run(undefined, work)
}

/** `undefined` outside handlers, and in hooks that run after the commit. */
export function currentInside(): Inside | undefined {
  return storage.getStore()
}
