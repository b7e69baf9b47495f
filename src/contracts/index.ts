export type { AfterJson } from './after-json.ts'
export type { Clock } from './clock.ts'
export type { Codec } from './codec.ts'
export type { Events, JustonceEvent } from './events.ts'
export type { Fact, FactChange, Facts, NamedFact } from './facts.ts'
export type { Hints } from './hints.ts'
export type {
  ClaimAnswer,
  ClaimRequest,
  Inbox,
  InboxKey,
  InboxRecord,
  RecordChange,
  RecordKey,
  RecordState,
  RecordsSize,
} from './inbox.ts'
export type {
  Cause,
  Due,
  Headers,
  IncomingMessage,
  Message,
  OutgoingMessage,
  PublishedMessage,
  TraceContext,
} from './message.ts'
export type {
  BehindOptions,
  DueOptions,
  NewParkedMessage,
  OrderScope,
  PackedMessage,
  ParkedBooking,
  ParkedChange,
  ParkedEdit,
  ParkedFilter,
  ParkedMessage,
  ParkedReason,
  ParkedTicket,
  Parking,
  StoredParkedMessage,
  Tally,
  TallyColumn,
  WantedMessages,
} from './parking.ts'
export type { Partition, Place, Position, Positioned, PositionMove, Positions, Restore } from './positions.ts'
export type { MessageInQueue, MessageToQueue, Queue, QueueCount, QueuedMessage, QueueTicket } from './queue.ts'
export type { Raised, Retention } from './retention.ts'
export type { Schema } from './schema.ts'
export type {
  Guarantee,
  JoinedStore,
  LastWrites,
  Loan,
  LoanOptions,
  LoanReport,
  Parts,
  Store,
  StoreCapabilities,
  StoreLimits,
  StoreTrouble,
  StoreWarning,
  TransactionOptions,
} from './store.ts'
export type {
  Appetite,
  BrokerState,
  Delivery,
  InsideTransaction,
  PublishDedup,
  Publisher,
  PublishResult,
  QueueInStore,
  Settlement,
  Subscriber,
  Transport,
  TransportCapabilities,
  TransportNotice,
} from './transport.ts'
