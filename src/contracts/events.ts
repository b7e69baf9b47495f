/** What happens, as it happens; for logs, metrics, tests. A listener that throws is ignored. */
export type JustonceEvent =
  | { readonly kind: 'processed'; readonly handler: string; readonly key: string; readonly type: string }
  | {
      readonly kind: 'duplicate'
      readonly handler: string
      readonly key: string
      readonly type: string
      readonly from: 'cache' | 'store'
    }
  | {
      readonly kind: 'parked'
      readonly handler: string
      readonly key: string
      readonly reason: string
      readonly state: 'waiting' | 'dead'
      readonly attempts: number
      readonly error: unknown
    }
  /** It came too late, and its handler skips such messages. */
  | { readonly kind: 'expired'; readonly handler: string; readonly key: string; readonly type: string }
  /** So many different messages in a row have failed that the handler is only tried now and then. */
  | { readonly kind: 'breaker-opened'; readonly handler: string; readonly failures: number; readonly error: unknown }
  | { readonly kind: 'breaker-closed'; readonly handler: string }
  /** It was being handled when a process died, and now runs with nothing beside it. */
  | { readonly kind: 'quarantined'; readonly messageId: string | undefined; readonly deaths: number }
  /** Something is set up so that it may not hold what one would expect; the code is in the catalogue. */
  | { readonly kind: 'warning'; readonly code: string; readonly message: string }
  /** Old records were removed. */
  | { readonly kind: 'retained'; readonly removed: number; readonly horizon: Date }
  /** So many messages wait for handlers that no running app has. After a while they become dead letters. */
  | { readonly kind: 'handlers-unknown'; readonly waiting: Readonly<Record<string, number>> }
  /** So many messages were published to destinations that this app does not serve, and nobody has sent them for a while. */
  | { readonly kind: 'destinations-unserved'; readonly waiting: Readonly<Record<string, number>> }
  | { readonly kind: 'redrive-ended'; readonly id: string; readonly state: 'finished' | 'stopped' }
  | { readonly kind: 'ignored'; readonly messageId: string | undefined; readonly type: string | undefined }
  | { readonly kind: 'batch'; readonly messages: number; readonly handled: number; readonly ms: number }
  | {
      readonly kind: 'undone'
      readonly reason: 'failure' | 'culprit' | 'held' | 'unkeepable' | 'conflict' | 'commit-unknown' | 'connection-lost'
      readonly error: unknown
      readonly messages: number
    }
  | { readonly kind: 'claim-held'; readonly handler: string; readonly key: string }
  /** It can be neither handled nor kept although the store answers. It is held, others go on, and it is tried again after the pause. */
  | {
      readonly kind: 'stuck'
      readonly messageId: string | undefined
      readonly type: string | undefined
      readonly error: unknown
      readonly pauseMs: number
    }
  | { readonly kind: 'late-call'; readonly handler: string; readonly error: unknown }
  | { readonly kind: 'store-down'; readonly error: unknown }
  | { readonly kind: 'store-up' }
  /** The app was stopped, and this had not ended in time. Nothing of it is lost, it may come again. */
  | { readonly kind: 'stop-unfinished'; readonly withinMs: number; readonly unfinished: readonly string[] }
  | { readonly kind: 'settle-failed'; readonly error: unknown; readonly deliveries: number }
  | { readonly kind: 'after-commit-failed'; readonly handler: string; readonly error: unknown }
  | { readonly kind: 'at-most-once-failed'; readonly handler: string; readonly key: string; readonly error: unknown }
  /** A transport deals with it by itself, but somebody should know; the code is in the catalogue. */
  | { readonly kind: 'transport-notice'; readonly transport: string; readonly code: string; readonly message: string }
  /** The broker has refused a message that was published; `dead`: it is a dead letter now. */
  | {
      readonly kind: 'outgoing-refused'
      readonly destination: string
      readonly messageId: string
      readonly state: 'waiting' | 'dead'
      readonly attempts: number
      readonly error: Error
    }
  | { readonly kind: 'relayed'; readonly destination: string; readonly sent: number; readonly failed: number }
  | { readonly kind: 'loop-failed'; readonly loop: string; readonly error: unknown }

export interface Events {
  emit(event: JustonceEvent): void
  /** The result ends the subscription. */
  listen(listener: (event: JustonceEvent) => void): () => void
}
