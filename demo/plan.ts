import { type Random, seededRandom, shuffle, wholeNumber } from './random.ts'

export interface Payment {
  readonly id: string
  readonly account: string
  readonly cents: number
}

/** One sending of a payment: the same message, a further time. */
export interface Copy {
  readonly payment: Payment
  readonly number: number
}

export interface Kill {
  /** It is due when this many copies have been consumed, … */
  readonly atConsumed: number
  /** … and strikes this much later, wherever the worker is by then. */
  readonly delayMs: number
  /** 0 ≤ x < 1: chooses among the workers that are at work. */
  readonly victim: number
}

/** Everything about a run that can be decided beforehand. It follows from the seed, and both sides get the same. */
export interface Plan {
  readonly payments: readonly Payment[]
  /** In the order of sending. */
  readonly copies: readonly Copy[]
  readonly kills: readonly Kill[]
  /** How many copies may be sent once so many kills have happened. */
  sendable(killsDone: number): number
}

export const accounts: readonly string[] = Array.from({ length: 200 }, (_, i) => `account-${i + 1}`)

export function makePlan({ messages, kills, seed }: { messages: number; kills: number; seed: number }): Plan {
  const random = seededRandom(seed)
  const payments = Array.from({ length: messages }, (_, i) => makePayment(i + 1, random))
  const copies = payments.flatMap((payment) =>
    Array.from({ length: wholeNumber(random, 1, 4) }, (_, i) => ({ payment, number: i + 1 })),
  )
  // The copies are dealt out in slices, one for each kill and two more. A kill falls due within its own slice and at
  // least one more has been sent by then, so that it never meets workers that have nothing left to do.
  const slices = kills + 2
  return {
    payments,
    copies: shuffle(copies, random),
    kills: Array.from({ length: kills }, (_, slice) => ({
      atConsumed: Math.floor((copies.length * (slice + 0.2 + 0.6 * random())) / slices),
      delayMs: random() * 80,
      victim: random(),
    })),
    sendable: (killsDone) => Math.ceil((copies.length * (killsDone + 2)) / slices),
  }
}

function makePayment(number: number, random: Random): Payment {
  return {
    id: `payment-${number}`,
    account: accounts[wholeNumber(random, 0, accounts.length - 1)] as string,
    cents: wholeNumber(random, 1_00, 100_00),
  }
}
