import type { IncomingMessage, TransportCapabilities } from '../../contracts/index.ts'
import { keysInUse } from './keys-in-use.ts'

export interface Entry {
  readonly message: IncomingMessage
  readonly sequence: number
  /** How often it has been taken. */
  count: number
}

/** The messages, and which connection holds which. It outlives its connections. */
export interface MemoryBroker {
  add(messages: readonly IncomingMessage[]): void
  /** The messages available to this holder, in order, at most `limit`. */
  take(holder: object, limit: number): readonly Entry[]
  remove(entries: readonly Entry[]): void
  giveBack(entries: readonly Entry[]): void
  pending(): readonly IncomingMessage[]
  unsettled(): readonly IncomingMessage[]
  settled(): readonly IncomingMessage[]
  /** The last message with this id, even if it is settled. */
  find(id: string): IncomingMessage | undefined
  /** True if nothing is pending or unsettled. */
  isIdle(): boolean
  /** Wakes everyone who waits for a change. */
  stir(): void
  /** Resolves at the next change, or when the signal is aborted. */
  changed(signal?: AbortSignal): Promise<void>
}

export function memoryBroker(order: TransportCapabilities['order']): MemoryBroker {
  // Entries before `freshFrom` have been taken.
  let fresh: Entry[] = []
  let freshFrom = 0
  // Kept apart from the fresh ones and delivered before them: a returned message is older than those behind it in its key.
  let returned: Entry[] = []
  const keys = keysInUse(order)
  const held = new Set<Entry>()
  const settled: IncomingMessage[] = []
  const byId = new Map<string, IncomingMessage>()
  const waiting = new Set<() => void>()
  let sequence = 0

  const change = (): void => {
    for (const wake of [...waiting]) wake()
  }

  const takeFresh = (limit: number, taken: Entry[], mayTakeIt: (entry: Entry) => boolean): void => {
    const left: Entry[] = []
    const wanted = taken.length + limit
    let next = freshFrom
    for (; next < fresh.length && taken.length < wanted; next++) {
      const entry = fresh[next] as Entry
      if (mayTakeIt(entry)) taken.push(entry)
      else left.push(entry)
    }
    freshFrom = next - left.length
    for (const [i, entry] of left.entries()) fresh[freshFrom + i] = entry
    if (freshFrom > 1_000 && freshFrom > fresh.length / 2) {
      fresh = fresh.slice(freshFrom)
      freshFrom = 0
    }
  }

  const release = (entry: Entry): void => {
    if (!held.delete(entry)) throw new Error(`Message '${entry.message.id}' is not held by anyone.`)
  }

  const requeue = (entries: readonly Entry[]): void => {
    for (const entry of entries) keys.letGo(entry)
    returned = [...returned, ...entries].sort((a, b) => a.sequence - b.sequence)
  }

  return {
    add(messages) {
      for (const message of messages) {
        fresh.push({ message, sequence: sequence++, count: 0 })
        if (message.id !== undefined) byId.set(message.id, message)
      }
      change()
    },
    take(holder, limit) {
      const keysOfThisTake = new Set<string>()
      const taken: Entry[] = []
      for (const entry of returned) {
        if (taken.length >= limit) break
        if (keys.mayTake(entry, holder, keysOfThisTake)) taken.push(entry)
      }
      takeFresh(limit - taken.length, taken, (entry) => keys.mayTake(entry, holder, keysOfThisTake))
      for (const entry of taken) {
        entry.count++
        held.add(entry)
        keys.hold(entry, holder)
      }
      if (returned.length > 0) returned = returned.filter((entry) => !held.has(entry))
      return taken
    },
    remove(entries) {
      for (const entry of entries) {
        release(entry)
        keys.letGo(entry)
        settled.push(entry.message)
      }
      change()
    },
    giveBack(entries) {
      for (const entry of entries) release(entry)
      requeue(entries)
      change()
    },
    pending: () => [...returned, ...fresh.slice(freshFrom)].map(({ message }) => message),
    unsettled: () => [...held].map(({ message }) => message),
    settled: () => [...settled],
    find: (id) => byId.get(id),
    isIdle: () => returned.length === 0 && fresh.length === freshFrom && held.size === 0,
    stir: change,
    changed: (signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = (): void => {
          waiting.delete(wake)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        waiting.add(wake)
        signal?.addEventListener('abort', wake)
      }),
  }
}
