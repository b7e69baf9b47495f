import { randomBytes } from 'node:crypto'
import type { ClaimRequest, MessageToQueue, NewParkedMessage, ParkedChange, ParkedEdit } from '../../contracts/index.ts'
import type { KeptRecord } from '../../encoding/split-changes.ts'
import type { FactRow } from '../../facts/index.ts'
import type { RedisArgument } from './client-shapes.ts'
import { rowName } from './names.ts'

/** What a transaction does at its commit, in the order of the calls. */
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
      /** What must be true of it: taken so often, or just there. */
      readonly still: number | 'there' | undefined
    }
  | { readonly kind: 'expect'; readonly queue: string; readonly ticket: string }

/**
 * One open transaction: a list of what its commit will do. Nothing in it is sent earlier, so a part is rolled back by
 * dropping the end of the list. Only claims and locks are taken at once, under the token, for as long as their lease is
 * renewed.
 */
export class Transaction {
  /** Names the transaction, and says for how long it takes what it takes; see `holdersLua`. */
  readonly token: string
  readonly lockTimeoutMs: number
  readonly signal: AbortSignal | undefined
  /** The names of the records claimed on the server, whatever becomes of them. */
  readonly held = new Set<string>()
  readonly locks = new Set<string>()
  /** Everything that was ever asked for: an answer that arrives after the end must not leave anything locked. */
  readonly asked = { claims: new Set<string>(), locks: new Set<string>() }
  /** The loan through which a record's handler works, by the name of the record. */
  readonly groups = new Map<string, number>()
  steps: Step[] = []
  /** Where the open part begins. */
  partStart: number | undefined
  ended = false
  /** Someone has tried to end the transaction from inside, so it must not be committed. */
  broken: Error | undefined
  #groups = 0

  constructor(leaseMs: number, lockTimeoutMs: number, signal: AbortSignal | undefined) {
    this.token = `${randomBytes(12).toString('base64url')}.${Math.ceil(leaseMs)}`
    this.lockTimeoutMs = lockTimeoutMs
    this.signal = signal
  }

  newGroup(): number {
    return ++this.#groups
  }

  undoTo(length: number): void {
    this.steps.length = length
  }

  /** What this transaction has made of a record since it claimed it. */
  changed(name: string): Pick<KeptRecord, 'state' | 'result'> {
    let changed: Pick<KeptRecord, 'state' | 'result'> = { state: 'processed', result: undefined }
    for (const step of this.steps) {
      if (step.kind === 'claim' && rowName(step.request) === name) changed = { state: 'processed', result: undefined }
      if (step.kind === 'update' && rowName(step.change) === name) changed = step.change
    }
    return changed
  }

  /** What this transaction has claimed and not released since, by name. */
  claimed(): Map<string, ClaimRequest> {
    const claimed = new Map<string, ClaimRequest>()
    for (const step of this.steps) {
      if (step.kind === 'claim') claimed.set(rowName(step.request), step.request)
      else if (step.kind === 'release') claimed.delete(step.name)
    }
    return claimed
  }
}
