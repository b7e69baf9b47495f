export type { AlertCondition, AlertNotice, AlertOptions } from './alerts/index.ts'
export type { AppOptions, Duty } from './app/app-options.ts'
export type { CodecOptions } from './app/codec-options.ts'
export { type EffectMap, effects } from './app/effect-map.ts'
export type {
  ExpiryOptions,
  HandlerOptions,
  OrderOptions,
  OutsideOptions,
  RetryOptions,
} from './app/handler-options.ts'
export type { Health, Lag, Trouble } from './app/health.ts'
export type { HeartbeatOptions } from './app/heartbeat-options.ts'
export { justonce } from './app/justonce.ts'
export { type Logger, logEvents } from './app/log-events.ts'
export { type Messages, messages } from './app/messages.ts'
export type { Reassigned } from './app/reassign.ts'
export type { IdScheme, RetentionOptions } from './app/retention-options.ts'
export { type Sharded, type ShardedOptions, sharded } from './app/sharded.ts'
export type {
  App,
  DeliveryOutcome,
  HandlerContext,
  HandlerOutcome,
  Intend,
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
export type { IntendOptions } from './engine/intending/new-intent.ts'
export { type JoinedOnceContext, type OnceContext, type OnceKey, type OnceOutcome, once } from './engine/once/once.ts'
export { type ExponentialOptions, exponential, fixed, none } from './engine/recovery/backoff.ts'
export {
  DidNotHappen,
  type DidNotHappenOptions,
  type ErrorCode,
  isJustonceError,
  JustonceError,
  PermanentError,
  RetryLater,
} from './errors/index.ts'
export { derivedId, uuidv7 } from './ids/index.ts'
export type { EffectContext, EffectOptions, ElsewhereOptions, Intent, ProbeAnswer } from './intents/effect.ts'
export { type HttpEffectOptions, httpEffect } from './intents/http-effect.ts'
export { type LeaseOptions, type LeaseOutcome, withLease } from './leases/with-lease.ts'
export { operations } from './operations/index.ts'
export type * from './operations/intent-types.ts'
export type * from './operations/message-types.ts'
export type * from './operations/monitoring-types.ts'
export type * from './operations/outgoing-types.ts'
export type * from './operations/types.ts'
export * from './reservations/index.ts'
export type { ScheduleOptions } from './schedules/schedule.ts'
