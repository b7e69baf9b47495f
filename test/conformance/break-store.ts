import { describe, expect, test } from 'vitest'
import type { Facts, Inbox, LoanReport, Parking, Parts, Queue, Retention, Store } from '../../src/contracts/index.ts'
import { type Leases, leasesOf } from '../../src/facts/index.ts'
import { engineCases, runStoreCase, type StoreCaseContext, storeCases } from '../../src/testing/index.ts'
import { type Library, libraries } from '../sqlite/open-sqlite.ts'
import { openStoreCase } from '../sqlite/store-case-context.ts'
import { openSimulated } from './simulated-context.ts'
import { withLeases } from './with-leases.ts'

/** Makes a store wrong in one way. */
type Break = (store: Store) => Partial<Store>
type Change<Part> = (part: Part, store: Store) => Partial<Part>

export interface BrokenStore {
  readonly name: string
  /** The case that must notice it. */
  readonly caught: string
  readonly break: Break
  /** For what only shows when several transactions are open at once, which SQLite has not. */
  readonly on?: 'simulated'
}

export const inbox = (change: Change<Inbox<unknown>>): Break => {
  return (store) => ({ inbox: { ...store.inbox, ...change(store.inbox, store) } })
}
/** Says something else about what went through a loan. */
export const reporting = (change: Partial<LoanReport>): Break => {
  return (store) => ({
    lend(tx, options) {
      const loan = store.lend(tx, options)
      return { ...loan, end: () => ({ ...loan.end(), ...change }) }
    },
  })
}
export const parking = (change: Change<Parking<unknown>>): Break => {
  return (store) => ({ parking: { ...store.parking, ...change(store.parking, store) } })
}
export const facts = (change: Change<Facts<unknown>>): Break => {
  return (store) => ({ facts: { ...store.facts, ...change(store.facts, store) } })
}
/** Compares a fact with what it sees itself, and not with what the caller expects. */
export const comparesWithWhatItSees = facts(({ read, change }) => ({
  async change(tx, changes) {
    const known = await read(changes.map(({ name }) => name))
    return await change(
      tx,
      changes.map((each, place) => ({ ...each, from: known[place]?.revision })),
    )
  },
}))
export const leases = (change: Change<Leases>): Break => {
  return (store) => {
    const real = leasesOf(store)
    return { facts: withLeases(store.facts, { ...real, ...change(real, store) }) }
  }
}
export const retention = (change: Change<Retention>): Break => {
  return (store) =>
    store.retention === undefined ? {} : { retention: { ...store.retention, ...change(store.retention, store) } }
}
export const queue = (change: Change<Queue<unknown>>): Break => {
  return (store) => (store.queue === undefined ? {} : { queue: { ...store.queue, ...change(store.queue, store) } })
}
export const parts = (change: Change<Parts<unknown>>): Break => {
  return (store) => (store.parts === undefined ? {} : { parts: { ...store.parts, ...change(store.parts, store) } })
}

async function openBroken(broken: BrokenStore): Promise<StoreCaseContext<unknown>> {
  const open = broken.on === 'simulated' ? openSimulated : () => openStoreCase(libraries[0] as Library)
  const context = (await open()) as unknown as StoreCaseContext<unknown>
  const changed = (store: Store): Store => ({ ...store, ...broken.break(store) })
  const { backUp } = context
  return {
    ...context,
    store: changed(context.store),
    rival: changed(context.rival),
    ...(backUp && {
      async backUp() {
        const restore = await backUp()
        return async () => changed((await restore()) as Store)
      },
    }),
  }
}

/** One test for each: the case named must fail on it. */
export function bindBrokenStores(broken: readonly BrokenStore[]): void {
  describe('the cases notice a store that', () => {
    test.for(broken)('$name', async (each) => {
      const theCase = [...storeCases, ...engineCases].find(({ name }) => name === each.caught)
      if (theCase === undefined) throw new Error(`There is no case called '${each.caught}'.`)
      await expect(runStoreCase(theCase, () => openBroken(each))).rejects.toThrow()
    })
  })
}
