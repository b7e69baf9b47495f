import { makeWorkload, type Workload } from '../transfers/workload.ts'

/** Under which circumstances messages come. */
export interface Situation {
  /** Added to the name of every way of working. */
  readonly suffix: string
  /** So many messages are handed over before one of them is settled. */
  readonly inFlight: number
  /** Whether all messages are for ten accounts, so that transactions wait for each other's rows, or for a thousand. */
  readonly isHot: boolean
}

/** The one without a suffix: enough messages, and rows that seldom collide. An app takes up to 800 by default. */
export const usual: Situation = { suffix: '', inFlight: 200, isHot: false }

/** Ten callers, or a broker that hands over only a few messages at once. */
export const tenInFlight: Situation = { suffix: '-10-in-flight', inFlight: 10, isHot: false }

/** A source that hands over the next message when the one before it is settled. */
export const oneInFlight: Situation = { suffix: '-1-in-flight', inFlight: 1, isHot: false }

export const situations: readonly Situation[] = [
  usual,
  { suffix: '-800-in-flight', inFlight: 800, isHot: false },
  { suffix: '-hot', inFlight: 200, isHot: true },
  tenInFlight,
  { suffix: '-hot-10-in-flight', inFlight: 10, isHot: true },
  oneInFlight,
  { suffix: '-hot-1-in-flight', inFlight: 1, isHot: true },
]

export interface MessagesOptions {
  readonly messages: number
  readonly keyed?: boolean
}

/** Each message comes once. Where few are in flight, fewer of them take as long. */
export function messagesIn({ inFlight, isHot }: Situation, { messages, keyed = false }: MessagesOptions): Workload {
  const share = inFlight === 1 ? 1 / 8 : inFlight === 10 ? 1 / 2 : 1
  return makeWorkload({
    messages: Math.ceil(messages * share),
    seed: 1,
    keyed,
    duplicateShare: 0,
    ...(isHot && { hot: { share: 1, accounts: 10 } }),
  })
}
