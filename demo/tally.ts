import { countParked } from '../src/operations/index.ts'
import type { Bank } from './bank.ts'
import type { Payment } from './plan.ts'

/** The figures of the table and of --json. */
export interface Figures {
  /** Different payments in the plan. */
  readonly messages: number
  /** Copies that the broker has confirmed to the producer. */
  readonly deliveries: number
  /** Copies that are settled at the broker, are not kept as parked messages and have left no row in the ledger. */
  readonly duplicates: number
  /** Worker processes that the system has reported as ended by our SIGKILL. */
  readonly kills: number
  /** Rows in the ledger. */
  readonly effects: number
  /** Payments without a row in the ledger. */
  readonly lost: number
  /** Rows in the ledger beyond the first of their payment. */
  readonly doubled: number
}

/** Counted in the database after the workers have ended, never taken from what a worker says. */
export interface Tally extends Figures {
  /** Of the doubled: the same copy was credited again, because its worker was killed between commit and acknowledgement. */
  readonly doubledByRepeats: number
  readonly paidCents: number
  readonly balanceCents: number
  /** Accounts whose balance is not the sum of their rows in the ledger. */
  readonly wrongAccounts: number
}

const creditsByCopy = 'SELECT payment, copy, count(*) AS times FROM ledger GROUP BY payment, copy'
const balances = `SELECT a.cents AS balance, (SELECT coalesce(sum(l.cents), 0) FROM ledger l WHERE l.account = a.id)
  AS booked FROM accounts a`

export async function tally(
  bank: Bank,
  run: {
    readonly payments: readonly Payment[]
    readonly sent: number
    /** Of those sent, what the broker would still deliver. */
    readonly unsettled: number
    readonly kills: number
  },
): Promise<Tally> {
  const credits = (await bank.read(creditsByCopy)).map((row) => ({
    payment: String(row.payment),
    times: Number(row.times),
  }))
  const unfinished = run.unsettled + (await countParked(bank.store))
  const found = (await bank.read(balances)).map((row) => ({
    balance: Number(row.balance),
    booked: Number(row.booked),
  }))
  const credited = new Set(credits.map(({ payment }) => payment))
  const lost = run.payments.filter(({ id }) => !credited.has(id)).length
  const effects = sum(credits.map(({ times }) => times))
  return {
    messages: run.payments.length,
    deliveries: run.sent,
    duplicates: run.sent - unfinished - credits.length,
    kills: run.kills,
    effects,
    lost,
    // A row for a payment that nobody sent is one too many as well.
    doubled: effects - (run.payments.length - lost),
    doubledByRepeats: effects - credits.length,
    paidCents: sum(run.payments.map(({ cents }) => cents)),
    balanceCents: sum(found.map(({ balance }) => balance)),
    wrongAccounts: found.filter(({ balance, booked }) => balance !== booked).length,
  }
}

/** Every payment was credited exactly once, and the accounts say so too. */
export function isExact({ lost, doubled, wrongAccounts, paidCents, balanceCents }: Tally): boolean {
  return lost === 0 && doubled === 0 && wrongAccounts === 0 && paidCents === balanceCents
}

export function figuresOf(tally: Tally): Figures {
  const { messages, deliveries, duplicates, kills, effects, lost, doubled } = tally
  return { messages, deliveries, duplicates, kills, effects, lost, doubled }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
