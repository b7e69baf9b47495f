import type { Loan, LoanOptions, StoreTrouble } from '../../../src/contracts/index.ts'
import { JustonceError } from '../../../src/errors/index.ts'
import { SimError } from '../database/sim-error.ts'
import { classify } from './classify.ts'
import type { SimClient, SimTx } from './sim-tx.ts'

const clients = new WeakMap<object, SimClient>()

/** The client itself, whether it is given or what a handler was lent of it. */
export function clientOf(tx: SimClient | SimTx): SimClient {
  return clients.get(tx) ?? (tx as SimClient)
}

/** The client as one handler sees it, until the handler settles. */
export function lend(client: SimClient, { borrower, onLateCall, interleaved }: LoanOptions): Loan<SimTx> {
  const open = new Set<Promise<unknown>>()
  let ended = false
  let broken: Error | undefined
  let trouble: StoreTrouble = 'none'

  function guarded<Args extends unknown[], T>(call: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
    return async (...args) => {
      if (ended) {
        const error = new JustonceError('TX_CLOSED', { message: `${borrower} used tx after it had settled.` })
        onLateCall(error)
        throw error
      }
      if (broken !== undefined) throw broken
      const pending = call(...args)
      open.add(pending)
      try {
        return await pending
      } catch (error) {
        if (classify(error) !== 'none') trouble = classify(error)
        if (error instanceof SimError && error.code === 'seal') {
          broken = new JustonceError('TX_ENDED', { message: `${borrower} has committed by itself.`, cause: error })
        }
        throw error
      } finally {
        open.delete(pending)
      }
    }
  }

  function refused(what: string): () => Promise<void> {
    return async () => {
      broken = new JustonceError('TX_CONTROL', { message: `${borrower} tried to ${what}.` })
      throw broken
    }
  }

  async function notInterleavable(): Promise<never> {
    broken = new JustonceError('NOT_INTERLEAVABLE', { message: `${borrower} called what may commit.` })
    throw broken
  }

  const lent: SimTx = {
    insert: guarded(client.insert),
    get: guarded(client.get),
    update: guarded(client.update),
    violate: guarded(client.violate),
    // What may commit unseen is refused, because the others would go on outside of any transaction.
    hiddenCommit: guarded(interleaved ? notInterleavable : client.hiddenCommit),
    commit: guarded(refused('commit')),
    rollback: guarded(refused('roll back')),
    looksAway: guarded(client.looksAway),
    cut: guarded(client.cut),
  }
  clients.set(lent, client)
  return {
    tx: lent,
    settled: () => (open.size === 0 ? undefined : Promise.all(open).then(() => {})),
    end: () => {
      ended = true
      return { openCalls: open.size, broken, trouble }
    },
  }
}
