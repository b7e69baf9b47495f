export type { AppOptions, Duty } from './app/app-options.ts'
export type { CodecOptions } from './app/codec-options.ts'
export type { ExpiryOptions, HandlerOptions, OrderOptions, RetryOptions } from './app/handler-options.ts'
export type { Health, Lag, Trouble } from './app/health.ts'
export { justonce } from './app/justonce.ts'
export { type Messages, messages } from './app/messages.ts'
export type { IdScheme, RetentionOptions } from './app/retention-options.ts'
export type {
  App,
  DeliveryOutcome,
  HandlerContext,
  HandlerOutcome,
  MessageToDeliver,
  MessageToPublish,
  Publish,
  PublishAll,
  TxOf,
} from './app/types.ts'
// What only those need who write a store or a transport is in justonce/driver.
export type {
  AfterJson,
  Clock,
  Codec,
  Guarantee,
  Headers,
  InboxRecord,
  IncomingMessage,
  JoinedStore,
  JustonceEvent,
  Message,
  Publisher,
  QueueCount,
  RecordKey,
  RecordState,
  Store,
  Subscriber,
  Transport,
} from './contracts/index.ts'
export type { Around, HandlerCall } from './engine/calls/around.ts'
export type { Backoff, DeliveryMode, PublishOptions } from './engine/handler.ts'
export { byContent, byPosition } from './engine/intake/identify.ts'
export type { StandardSchema } from './engine/intake/standard-schema.ts'
export { type JoinedOnceContext, type OnceContext, type OnceKey, type OnceOutcome, once } from './engine/once/once.ts'
export { type ExponentialOptions, exponential, fixed, none } from './engine/recovery/backoff.ts'
export { type ErrorCode, isJustonceError, JustonceError, PermanentError, RetryLater } from './errors/index.ts'
export { derivedId, uuidv7 } from './ids/index.ts'
export { type LeaseOptions, type LeaseOutcome, withLease } from './leases/with-lease.ts'
export {
  type AuditedAction,
  type CountedGroup,
  type DeadLetter,
  type LetterFilter,
  type LetterGroup,
  type LetterOperations,
  type LetterSelection,
  type Operations,
  type OutgoingOperations,
  operations,
  type Page,
  type ParkedView,
  type RecordOperations,
  type Redrive,
  type RedriveOptions,
  type RedrivePreview,
  type RedriveProgress,
  type RedriveStatus,
  type RetryOperations,
  type WaitingRetry,
  type WhoAndWhy,
} from './operations/index.ts'
