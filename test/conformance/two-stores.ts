import type { Store } from '../../src/contracts/index.ts'
import type { DeclaredNeed, Effects, StoreCaseContext } from '../../src/testing/index.ts'

type Which = 0 | 1

export interface StorePlaces<Tx> {
  /** By one of two clients in one of two places; the second place is the one where nothing is installed. */
  openStore(client: Which, place: Which): Store<Tx>
  readonly declares: readonly DeclaredNeed[]
  readonly effects: Effects<Tx>
  /** Makes the tables of the effects beside those of the store. */
  createEffects(): Promise<unknown>
  createSecondPlace?(): Promise<unknown>
  /** Keeps the first place as it is; what it resolves to puts it back to that. */
  backUp?(): Promise<() => Promise<unknown>>
  moveClock?(ms: number): Promise<void>
  /** Closes what does not belong to a store and removes the data. */
  remove(): Promise<void>
}

/** The context of store cases in a database with tables. */
export async function openTwoStores<Tx>(places: StorePlaces<Tx>): Promise<StoreCaseContext<Tx>> {
  const { openStore, declares, effects, createEffects, createSecondPlace, backUp, moveClock, remove } = places
  const [store, rival] = [openStore(0, 0), openStore(1, 0)]
  const empty = [openStore(0, 1), openStore(1, 1)] as const
  const opened = [store, rival, ...empty]
  await store.schema.install()
  await createEffects()
  return {
    store,
    rival,
    declares,
    effects,
    async openEmpty() {
      await createSecondPlace?.()
      return empty
    },
    ...(moveClock && { moveClock }),
    ...(backUp && {
      async backUp() {
        const restore = await backUp()
        return async () => {
          await restore()
          const fresh = openStore(1, 0)
          opened.push(fresh)
          return fresh
        }
      },
    }),
    async close() {
      for (const each of opened) await each.close()
      await remove()
    },
  }
}
