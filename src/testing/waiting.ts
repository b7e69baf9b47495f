import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Store, TransactionOptions } from '../contracts/index.ts'

/** A promise that is resolved from outside. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

/** A transaction that has done its work and stays open until the test says how it ends. */
export interface HeldTransaction<T> {
  readonly value: T
  commit(): Promise<void>
  undo(): Promise<void>
}

/** Resolves when the work is done inside a transaction that is still open. */
export async function hold<Tx, T>(
  store: Store<Tx>,
  work: (tx: Tx) => Promise<T>,
  options?: TransactionOptions,
): Promise<HeldTransaction<T>> {
  const done = Promise.withResolvers<T>()
  const ending = Promise.withResolvers<'commit' | 'undo'>()
  const undone = new Error('undone on purpose')
  const transaction = store.transaction(async (tx) => {
    const value = await work(tx)
    done.resolve(value)
    if ((await ending.promise) === 'undo') throw undone
  }, options)
  transaction.catch(done.reject)
  const value = await done.promise
  return {
    value,
    async commit() {
      ending.resolve('commit')
      await transaction
    },
    async undo() {
      ending.resolve('undo')
      await assert.rejects(transaction, undone)
    },
  }
}

/**
 * Evidence that something waits and is not just slow: it has not settled after a short while. The real proof is its later
 * outcome, so a slow machine can never make this fail.
 */
export async function staysPending(promise: Promise<unknown>, what: string): Promise<void> {
  const settled = promise.then(
    () => true,
    () => true,
  )
  assert.equal(await Promise.race([settled, pause(60, false)]), false, `${what} did not wait`)
}

/** Looks again until there is a result. For states that depend on the database's clock. */
export async function eventually<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  for (let turn = 0; turn < 400; turn++) {
    const seen = await look()
    if (seen !== undefined) return seen
    await pause(25)
  }
  return assert.fail(`${what} did not happen within ten seconds`)
}

/** The error that the promise rejects with. If it resolves, that is a failure. */
export async function failureOf(promise: Promise<unknown>, what: string): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail(`${what} should have been refused`)
}

/** Retries if the store says that this may help, as callers must and a deadlock victim needs. */
export async function despiteConflicts<T>(store: Pick<Store, 'classify'>, run: () => Promise<T>): Promise<T> {
  for (let turn = 1; ; turn++) {
    try {
      return await run()
    } catch (error) {
      if (turn === 10 || store.classify(error) !== 'conflict') throw error
    }
  }
}
