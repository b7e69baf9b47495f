import type { Delivery } from '../../contracts/index.ts'
import type { Feed } from '../feed.ts'
import { type Item, letterOf } from '../items.ts'
import { partitionId } from '../positions/partition-moves.ts'

/** What must stay together and in order: a lane of the transport, or else the key of the message. */
export function affinityOf({ lane, message }: Delivery): string | undefined {
  return lane ?? message.key ?? undefined
}

/**
 * Identifies what must be handled in order: a partition whose position is kept in the store, the rows of an order key, a lane,
 * or a key. `undefined` if the item is in no chain.
 */
export function chainOf<Tx>({ positions }: Feed, item: Item<Tx>): string | undefined {
  const letter = letterOf(item)
  const { delivery } = item
  if (letter !== undefined)
    return letter.orderKey === undefined ? undefined : JSON.stringify([letter.handler, letter.orderKey])
  return positions === undefined ? affinityOf(delivery) : partitionId(delivery)
}

/** Chains of which an item was left: the items after it are left too, in the same list of the result. */
export class LeftChains<Tx, List extends 'again' | 'held' | 'stopped'> {
  readonly #feed: Feed
  readonly #left = new Map<string, List>()

  constructor(feed: Feed) {
    this.#feed = feed
  }

  leave(item: Item<Tx>, list: List): void {
    const chain = chainOf(this.#feed, item)
    if (chain !== undefined && !this.#left.has(chain)) this.#left.set(chain, list)
  }

  /** The list in which the item is left because of an earlier item; `undefined` if it is not left. */
  behind(item: Item<Tx>): List | undefined {
    const chain = this.#left.size === 0 ? undefined : chainOf(this.#feed, item)
    return chain === undefined ? undefined : this.#left.get(chain)
  }

  /** The items that are not left because of earlier ones. The others are added to the lists. */
  without(items: readonly Item<Tx>[], lists: Record<List, Delivery[]>): readonly Item<Tx>[] {
    if (this.#left.size === 0) return items
    return items.filter((item) => {
      const list = this.behind(item)
      if (list !== undefined) lists[list].push(item.delivery)
      return list === undefined
    })
  }
}
