import type { IncomingMessage, TransportCapabilities } from '../../contracts/index.ts'
import { keysInUse } from './keys-in-use.ts'

export interface Entry {
  readonly message: IncomingMessage
  readonly sequence: number
  /** How often it has been taken. */
  count: number
}

/** The messages themselves and who holds which; connections come and go. */
export interface MemoryBroker {
  add(messages: readonly IncomingMessage[]): void
  /** As many as there are for this holder, up to `limit`, in order. */
  take(holder: object, limit: number): readonly Entry[]
  remove(entries: readonly Entry[]): void
  giveBack(entries: readonly Entry[]): void
  pending(): readonly IncomingMessage[]
  unsettled(): readonly IncomingMessage[]
  settled(): readonly IncomingMessage[]
  /** The last message of this id, whatever has become of it. */
  find(id: string): IncomingMessage | undefined
  /** Nothing is pending or unsettled. */
  isIdle(): boolean
  /** Lets whoever waits for a change look again. */
  stir(): void
  /** Resolves at the next change, or when the signal is aborted. */
  changed(signal?: AbortSignal): Promise<void>
}

export function memoryBroker(order: TransportCapabilities['order']): MemoryBroker {
  // Those before `freshFrom` have been taken.
  let fresh: Entry[] = []
  let freshFrom = 0
  // Apart from the fresh ones and before them: what was taken once is older than what follows it in its key.
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
