import type { IncomingMessage } from '../../src/contracts/index.ts'

/** The body of a message: move this much into that account. */
export interface Transfer {
  readonly account: number
  readonly amount: number
}

export const transferType = 'transfer.requested'

export interface WorkloadOptions {
  readonly messages: number
  /** Different seeds make different messages; the same seed makes the same ones in every process. */
  readonly seed: number
  /** How many of the messages go to the first few accounts. */
  readonly hot?: { readonly share: number; readonly accounts: number }
  /** Whether a message has its account as its key. Default: yes. */
  readonly keyed?: boolean
  /** How many of the messages come a second time. */
  readonly duplicateShare?: number
}

export interface Workload {
  /** In order of arrival, duplicates included. */
  readonly deliveries: readonly IncomingMessage[]
  readonly messages: number
  /** The sum of all amounts, each message counted once. */
  readonly amountOfMessages: number
  /** The same with duplicates counted again. */
  readonly amountOfDeliveries: number
}

export const accounts = 1_000

/** Messages and their duplicates; a duplicate comes anywhere after its original. */
export function makeWorkload({ messages, seed, hot, keyed = true, duplicateShare = 0.2 }: WorkloadOptions): Workload {
  const random = randomFrom(seed)
  const arrivals: { readonly at: number; readonly message: IncomingMessage; readonly amount: number }[] = []
  let amountOfMessages = 0
  for (let i = 0; i < messages; i++) {
    const isHot = hot !== undefined && random() < hot.share
    const account = Math.floor(random() * (isHot ? hot.accounts : accounts))
    const amount = 1 + Math.floor(random() * 1_000)
    const body = new TextEncoder().encode(JSON.stringify({ account, amount } satisfies Transfer))
    const message = {
      id: idFrom(random),
      type: transferType,
      body,
      headers: {},
      key: keyed ? String(account) : undefined,
      source: 'transfers',
    }
    arrivals.push({ at: i, message, amount })
    amountOfMessages += amount
    if (random() < duplicateShare) arrivals.push({ at: i + 1 + random() * (messages - i), message, amount })
  }
  arrivals.sort((a, b) => a.at - b.at)
  return {
    deliveries: arrivals.map(({ message }) => message),
    messages,
    amountOfMessages,
    amountOfDeliveries: arrivals.reduce((sum, { amount }) => sum + amount, 0),
  }
}

/** In the form of a random UUID, as producers make them: nothing in an index comes out in order. */
function idFrom(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** Mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}
