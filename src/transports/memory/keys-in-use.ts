import type { IncomingMessage, TransportCapabilities } from '../../contracts/index.ts'
import type { Entry } from './memory-broker.ts'

/** Decides who may take which message when order is kept. */
export interface KeysInUse {
  /** `keysOfThisTake` holds the keys that were opened earlier in the same take. */
  mayTake(entry: Entry, holder: object, keysOfThisTake: Set<string>): boolean
  hold(entry: Entry, holder: object): void
  letGo(entry: Entry): void
}

interface Use {
  readonly holder: object
  readonly entries: Set<Entry>
}

export function keysInUse(order: TransportCapabilities['order']): KeysInUse {
  const uses = new Map<string, Use>()

  const useOf = (entry: Entry): Use | undefined => {
    const key = orderedBy(entry, order)
    return key === undefined ? undefined : uses.get(key)
  }

  return {
    mayTake(entry, holder, keysOfThisTake) {
      const key = orderedBy(entry, order)
      if (key === undefined || keysOfThisTake.has(key)) return true
      const use = uses.get(key)
      // A lane belongs to one holder, who may take more of it at any time. A key is closed until all its messages are settled:
      // its holder may work on several batches at once, and the second would overtake the first.
      if (use !== undefined && (order === 'key' || use.holder !== holder)) return false
      keysOfThisTake.add(key)
      return true
    },
    hold(entry, holder) {
      const key = orderedBy(entry, order)
      if (key === undefined) return
      const use = uses.get(key) ?? { holder, entries: new Set() }
      uses.set(key, use)
      use.entries.add(entry)
    },
    letGo(entry) {
      const key = orderedBy(entry, order)
      const use = useOf(entry)
      if (key === undefined || use === undefined) return
      use.entries.delete(entry)
      if (use.entries.size === 0) uses.delete(key)
    },
  }
}

function orderedBy({ message }: Entry, order: TransportCapabilities['order']): string | undefined {
  if (order === 'none') return undefined
  return order === 'lane' ? laneOf(message) : message.key
}

export function laneOf(message: IncomingMessage): string {
  return message.key ?? ''
}
