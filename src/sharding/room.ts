import type { Subscriber } from '../contracts/index.ts'
import type { Branch } from './branch.ts'

interface Most {
  /** Of one shard. */
  readonly maxInFlight: number
  readonly maxBytes: number | undefined
  readonly holdMost: number
}

/** How much the source may bring for all shards. */
export interface Room {
  readonly messages: number
  readonly bytes: number | undefined
  /** How many messages are wanted at the moment. */
  now(): number
}

type Waiting = Pick<Branch, 'limit' | 'waiting' | 'waitingBytes'>

/**
 * What waits for a shard that takes nothing must not use up the room of others, so it is asked for on top: as far as `holdMost` and
 * the bytes of all shards go. From there on all wait.
 */
export function roomFor(
  branches: readonly Waiting[],
  { maxInFlight, maxBytes, holdMost }: Most,
  { messages = Number.POSITIVE_INFINITY, bytes: mostBytes }: NonNullable<Subscriber['inFlight']> = {},
): Room {
  const most = Math.min(messages, maxInFlight * branches.length + holdMost)
  const wanted = maxBytes === undefined ? undefined : maxBytes * branches.length
  const bytes = wanted === undefined ? mostBytes : Math.min(wanted, mostBytes ?? wanted)
  const sum = (of: (branch: Waiting) => number): number => branches.reduce((total, branch) => total + of(branch), 0)
  const now = (): number => {
    const waiting = sum((branch) => branch.waiting)
    const waitingBytes = sum((branch) => branch.waitingBytes)
    const held = bytes === undefined || waitingBytes <= bytes ? waiting : Math.floor((waiting * bytes) / waitingBytes)
    return Math.max(1, Math.min(most, sum((branch) => branch.limit) + held))
  }
  return { messages: most, bytes, now }
}
