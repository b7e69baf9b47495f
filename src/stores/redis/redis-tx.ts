import type { Loan, LoanOptions, StoreTrouble } from '../../contracts/index.ts'
import { isJustonceError, JustonceError, wrongTx } from '../../errors/index.ts'
import { checkedArguments } from './arguments.ts'
import type { RedisArgument } from './client-shapes.ts'
import type { CommandTable } from './command-table.ts'
import { classify } from './errors.ts'
import { rowName } from './names.ts'
import { OpenCalls } from './open-calls.ts'
import type { Transaction } from './transaction.ts'

/** What handlers write through: commands that are queued and applied together at the commit. They return no results. */
export interface RedisTx {
  /**
   * Resolves when the command is queued. Rejects if the server has no such command, or if it cannot be part of a
   * transaction.
   *
   * @example
   * await tx.command('INCRBY', `stock:${sku}`, -1)
   */
  command(name: string, ...args: RedisArgument[]): Promise<void>
}

/** The effects of a lease store live elsewhere, so there is nothing to write through. */
export type NoTx = Readonly<Record<never, never>>

/** Commands that control the transaction, or the session that the store itself uses. */
const control = new Set([
  ...['MULTI', 'EXEC', 'DISCARD', 'WATCH', 'UNWATCH', 'RESET', 'QUIT'],
  ...['SELECT', 'AUTH', 'HELLO', 'CLIENT'],
])

interface Lent {
  readonly transaction: Transaction
  /** Throws if the loan is over. */
  check(): void
}

/** Creates each `tx`, and finds its transaction. */
export class TxFactory<Tx extends object> {
  readonly #lents = new WeakMap<object, Lent>()
  readonly #table: CommandTable | undefined

  /** Without a table, a `tx` has no commands. */
  constructor(table: CommandTable | undefined) {
    this.#table = table
  }

  get hasCommands(): boolean {
    return this.#table !== undefined
  }

  own(transaction: Transaction): Tx {
    const check = (): void => {
      if (transaction.ended) throw closed('The transaction')
    }
    const note = (error: unknown): void => {
      if (isJustonceError(error, 'TX_CONTROL')) transaction.broken ??= error
    }
    return this.#make({ transaction, check }, 0, new OpenCalls(), note)
  }

  /** The transaction behind a `tx`, lent or not. Throws if it is over. */
  transactionOf(tx: Tx): Transaction {
    const lent = this.#lents.get(tx)
    if (lent === undefined) throw wrongTx(tx, 'one that a transaction of this Redis store gives')
    lent.check()
    return lent.transaction
  }

  lend(tx: Tx, { borrower, onLateCall, records = [] }: LoanOptions): Loan<Tx> {
    const transaction = this.transactionOf(tx)
    const calls = new OpenCalls()
    const group = records.length === 0 ? 0 : transaction.newGroup()
    for (const record of records) transaction.groups.set(rowName(record), group)
    let ended = false
    let broken: JustonceError | undefined
    let trouble: StoreTrouble = 'none'
    const check = (): void => {
      if (!ended && !transaction.ended) return
      const error = closed(`The handler ${JSON.stringify(borrower)}`)
      onLateCall(error)
      throw error
    }
    const note = (error: unknown): void => {
      if (isJustonceError(error, 'TX_CONTROL')) broken ??= error
      if (trouble === 'none') trouble = classify(error)
    }
    return {
      tx: this.#make({ transaction, check }, group, calls, note),
      settled: () => calls.settled(),
      end() {
        ended = true
        return { openCalls: calls.count, broken, trouble }
      },
    }
  }

  #make(lent: Lent, group: number, calls: OpenCalls, note: (error: unknown) => void): Tx {
    const table = this.#table
    const { transaction } = lent
    const command = (...args: RedisArgument[]): Promise<void> =>
      calls.track(async () => {
        lent.check()
        const checked = checkedArguments(args)
        const name = String(checked[0]).toUpperCase()
        if (control.has(name)) throw new JustonceError('TX_CONTROL', { message: `tx.command was called with ${name}.` })
        // Queued before the check, so that a later call whose command is already known is not applied earlier.
        const step = { kind: 'command', group, args: checked } as const
        transaction.steps.push(step)
        try {
          await table?.check(checked)
        } catch (error) {
          const place = transaction.steps.indexOf(step)
          if (place !== -1) transaction.steps.splice(place, 1)
          throw error
        }
      }, note)
    const tx = (table === undefined ? {} : { command }) as unknown as Tx
    this.#lents.set(tx, lent)
    return tx
  }
}

function closed(borrower: string): JustonceError {
  return new JustonceError('TX_CLOSED', { message: `${borrower} used tx after it had settled.` })
}
