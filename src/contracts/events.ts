import type { TraceContext } from './message.ts'

/** What happens, as it happens; for logs, metrics, tests. A listener that throws is ignored. */
export type JustonceEvent =
  /** A handler has run, and its effects and its record are committed. */
  | {
      readonly kind: 'processed'
      readonly handler: string
      readonly key: string
      readonly type: string
      /** Which attempt succeeded, if it was not the first. */
      readonly attempt?: number | undefined
    }
  /** A message was processed before, so the handler did not run. */
  | {
      readonly kind: 'duplicate'
      readonly handler: string
      readonly key: string
      readonly type: string
      readonly from: 'cache' | 'store'
      readonly messageId: string
      readonly source: string
      /** The broker says that it may have delivered this copy before: it was not acknowledged then. */
      readonly redelivered: boolean
      /** How often the broker has delivered this copy, if it counts. */
      readonly deliveries?: number | undefined
      /** When the message was processed, if the database recognised it. */
      readonly processedAt?: Date | undefined
      /** The W3C trace context that this copy came with, if it has one. */
      readonly trace?: TraceContext | undefined
    }
  /** A handler has failed, and the message is kept: `waiting` for its next attempt, or `dead` until an operator redrives it. */
  | {
      readonly kind: 'parked'
      readonly handler: string
      readonly key: string
      readonly reason: string
      readonly state: 'waiting' | 'dead'
      readonly attempts: number
      readonly error: unknown
    }
  /** It arrived too late, and its handler skips such messages. */
  | { readonly kind: 'expired'; readonly handler: string; readonly key: string; readonly type: string }
  /** Many different messages in a row have failed, so the handler now gets only one message now and then. */
  | { readonly kind: 'breaker-opened'; readonly handler: string; readonly failures: number; readonly error: unknown }
  /** A message of the handler has succeeded again, and all of its messages flow. */
  | { readonly kind: 'breaker-closed'; readonly handler: string }
  /**
   * So many messages of an order key wait behind a dead letter, whose `key` this is, until somebody redrives or discards it.
   * `isFull`: no more may wait, and what comes next becomes a dead letter itself.
   */
  | {
      readonly kind: 'key-blocked'
      readonly handler: string
      readonly orderKey: string
      readonly key: string
      readonly waiting: number
      readonly isFull: boolean
    }
  /** It was being handled when a process died, and now runs with nothing alongside it. */
  | { readonly kind: 'quarantined'; readonly messageId: string | undefined; readonly deaths: number }
  /** A setting may have surprising effects; the code is in the catalogue. */
  | { readonly kind: 'warning'; readonly code: string; readonly message: string }
  /** Old records were removed. */
  | { readonly kind: 'retained'; readonly removed: number; readonly horizon: Date }
  /** How many messages wait for handlers that no running app has, by `handler (type)`. After a while they become dead letters. */
  | { readonly kind: 'handlers-unknown'; readonly waiting: Readonly<Record<string, number>> }
  /** How many messages were published to destinations that this process does not serve and have not been sent for a while. */
  | { readonly kind: 'destinations-unserved'; readonly waiting: Readonly<Record<string, number>> }
  /** Nobody was there when a schedule should have ticked. `made`: how many messages there are for it now, by its option `missed`. */
  | {
      readonly kind: 'ticks-missed'
      readonly schedule: string
      readonly missed: 'skip' | 'last' | 'all'
      readonly made: number
    }
  /** A redrive has released everything, or was stopped: by an operator, or because too much failed again. */
  | { readonly kind: 'redrive-ended'; readonly id: string; readonly state: 'finished' | 'stopped' }
  /** A message of a type without a handler was acknowledged, because `unknownTypes` is `ignore`. */
  | { readonly kind: 'ignored'; readonly messageId: string | undefined; readonly type: string | undefined }
  /**
   * A call of a handler has ended: for one message, or for many if it takes batches. What it did is not committed yet, and may be rolled
   * back with its neighbours and run again.
   */
  | {
      readonly kind: 'called'
      readonly handler: string
      readonly messages: number
      readonly ms: number
      readonly failed: boolean
    }
  /** A batch has ended: how many messages were in it, how many of them are settled, and how long it took. */
  | { readonly kind: 'batch'; readonly messages: number; readonly handled: number; readonly ms: number }
  /** The transaction of a batch was rolled back. What is done about it depends on the reason; nothing is lost by it. */
  | {
      readonly kind: 'rolled-back'
      readonly reason:
        | 'failure'
        | 'culprit'
        | 'held'
        | 'unkeepable'
        | 'conflict'
        | 'commit-unknown'
        | 'connection-lost'
        | 'gone'
      readonly error: unknown
      readonly messages: number
    }
  /**
   * It was in hand, but is no longer in its queue: another process has handled it since, or the database was restored to an
   * earlier state. Nothing that was done for it here stands, and it is not handled again.
   */
  | { readonly kind: 'delivery-gone'; readonly messageId: string | undefined; readonly type: string | undefined }
  /** Another process holds the claim of this message for longer than is waited. It comes back later; the others go on. */
  | { readonly kind: 'claim-held'; readonly handler: string; readonly key: string }
  /**
   * It can be neither handled nor kept although the store answers. It is held while others go on, and is retried after the pause.
   */
  | {
      readonly kind: 'stuck'
      readonly messageId: string | undefined
      readonly type: string | undefined
      readonly error: unknown
      readonly pauseMs: number
    }
  /** A handler used its `tx` after it had ended. The call was refused. */
  | { readonly kind: 'late-call'; readonly handler: string; readonly error: unknown }
  /** The store does not answer probes, or fails again although it does. A lost connection alone is not reported. */
  | { readonly kind: 'store-down'; readonly error: unknown }
  /** The store answers again. */
  | { readonly kind: 'store-up' }
  /** The app was stopped, and these had not ended in time. Nothing is lost: the messages may be delivered again. */
  | { readonly kind: 'stop-unfinished'; readonly withinMs: number; readonly unfinished: readonly string[] }
  /** The broker did not take the acknowledgement. The messages may be delivered again, and are duplicates then. */
  | { readonly kind: 'settle-failed'; readonly error: unknown; readonly deliveries: number }
  /** Work that was given to `afterCommit` has failed. The message stays processed. */
  | { readonly kind: 'after-commit-failed'; readonly handler: string; readonly error: unknown }
  /** A handler that runs at most once has failed. It does not run again. */
  | { readonly kind: 'at-most-once-failed'; readonly handler: string; readonly key: string; readonly error: unknown }
  /** A problem that a transport handles itself, but that operators should know about; the code is in the catalogue. */
  | { readonly kind: 'transport-notice'; readonly transport: string; readonly code: string; readonly message: string }
  /** The broker refused a published message. `dead`: it is now a dead letter. */
  | {
      readonly kind: 'outgoing-refused'
      readonly destination: string
      readonly messageId: string
      readonly state: 'waiting' | 'dead'
      readonly attempts: number
      readonly error: Error
    }
  /** Handlers stored messages to be sent, and the transaction has committed. */
  | { readonly kind: 'published'; readonly messages: number }
  /** Stored messages were handed to the broker of a destination. */
  | { readonly kind: 'relayed'; readonly destination: string; readonly sent: number; readonly failed: number }
  /** An effect was called, and its result is kept. `isLate`: after it had already been called unknown. */
  | {
      readonly kind: 'intent-done'
      readonly effect: string
      readonly key: string
      readonly attempts: number
      readonly isLate: boolean
    }
  /** It did not happen. `given-up`: it is not tried any more, and waits for an operator. */
  | {
      readonly kind: 'intent-failed'
      readonly effect: string
      readonly key: string
      readonly state: 'waiting' | 'given-up'
      readonly attempts: number
      readonly error: unknown
    }
  /**
   * Nobody knows whether it happened. `again`: it is called again with the same idempotency key. `probe`: the provider is asked.
   * `person`: it waits for an operator. `discarded`: it is given up, as the effect is configured.
   */
  | {
      readonly kind: 'intent-unknown'
      readonly effect: string
      readonly key: string
      readonly next: 'again' | 'probe' | 'person' | 'discarded'
      readonly attempts: number
      readonly error: unknown
    }
  /** It was intended before under the same key, so nothing was added. */
  | { readonly kind: 'intent-duplicate'; readonly effect: string; readonly key: string }
  /**
   * An attempt succeeded after its intent had been settled in another way, or had been tried again. Its result is not kept: it may
   * have happened twice, or although somebody said that it did not.
   */
  | {
      readonly kind: 'intent-conflict'
      readonly effect: string
      readonly key: string
      readonly attempt: number
    }
  /** How many intents wait for effects that no running app has. They are kept until one has them. */
  | { readonly kind: 'effects-unknown'; readonly waiting: Readonly<Record<string, number>> }
  /** A rule of `alerts` has fired or is resolved; in the process that has told somebody. */
  | {
      readonly kind: 'alert'
      readonly rule: string
      readonly state: 'firing' | 'resolved'
      readonly value: number
      readonly text: string
    }
  /** Work in the background (retries, sending, maintenance) has failed. It goes on after a pause. */
  | { readonly kind: 'loop-failed'; readonly loop: string; readonly error: unknown }

/** Where everything that happens is heard of. */
export interface Events {
  emit(event: JustonceEvent): void
  /**
   * The returned function ends the subscription. While somebody listens, nothing is printed to the console, unless all of them say
   * that they do not replace the log (`replacesLog: false`): what only counts, for example.
   */
  listen(listener: (event: JustonceEvent) => void, options?: { readonly replacesLog?: boolean }): () => void
}
