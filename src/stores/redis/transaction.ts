import { randomBytes } from 'node:crypto'
import type { ClaimRequest, MessageToQueue, NewParkedMessage, ParkedChange, ParkedEdit } from '../../contracts/index.ts'
import type { KeptRecord } from '../../encoding/split-changes.ts'
import type { FactRow } from '../../facts/index.ts'
import type { RedisArgument } from './client-shapes.ts'
import { rowName } from './names.ts'

/** What a transaction is to do at its commit, in the order in which it was asked for. */
export type Step =
  | { readonly kind: 'claim'; readonly request: ClaimRequest; readonly isPartly: boolean }
  | { readonly kind: 'release'; readonly name: string }
  | { readonly kind: 'update'; readonly change: KeptRecord }
  | { readonly kind: 'forget'; readonly name: string }
  | { readonly kind: 'epoch' }
  | { readonly kind: 'command'; readonly group: number; readonly args: readonly RedisArgument[] }
  | { readonly kind: 'park'; readonly message: NewParkedMessage }
  | { readonly kind: 'change'; readonly change: ParkedChange }
  | { readonly kind: 'edit'; readonly name: string; readonly edit: ParkedEdit }
  | { readonly kind: 'fact'; readonly name: string; readonly seen: string; readonly row: FactRow }
  | { readonly kind: 'remove-facts'; readonly names: readonly string[] }
  | { readonly kind: 'send'; readonly queue: string; readonly message: MessageToQueue }
  | {
      readonly kind: 'remove'
      readonly queue: string
      readonly ticket: string
      readonly deliveries: number | undefined
    }

/**
 * One open transaction: a list of what its commit will do. Nothing of it is sent before, so to undo a part is to forget
 * the end of the list. Only claims and locks are taken at once, under the token, for as long as their lease is renewed.
 */
export class Transaction {
  readonly token = randomBytes(12).toString('base64url')
  readonly lockTimeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Records claimed on the server, by name, whatever is to become of them. */
  readonly held = new Set<string>()
  readonly locks = new Set<string>()
  /** What was ever asked for: an answer that comes after the end must not leave anything taken. */
  readonly asked = { claims: new Set<string>(), locks: new Set<string>() }
  /** By the name of a record: the loan through which its handler works. */
  readonly groups = new Map<string, number>()
  steps: Step[] = []
  /** Where the open part begins. */
  partStart: number | undefined
  ended = false
  /** Somebody has tried to end it from inside: then nothing of it may be committed. */
  broken: Error | undefined
  #groups = 0

  constructor(lockTimeoutMs: number, signal: AbortSignal | undefined) {
    this.lockTimeoutMs = lockTimeoutMs
    this.signal = signal
  }

  newGroup(): number {
    return ++this.#groups
  }

  undoTo(length: number): void {
    this.steps.length = length
  }

  /** What this very transaction has claimed and not given up since, by name. */
  claimed(): Map<string, ClaimRequest> {
    const claimed = new Map<string, ClaimRequest>()
    for (const step of this.steps) {
      if (step.kind === 'claim') claimed.set(rowName(step.request), step.request)
      else if (step.kind === 'release') claimed.delete(step.name)
    }
    return claimed
  }
}
