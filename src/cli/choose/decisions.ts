/** One answer to a question, and what follows from it. */
export interface Answer {
  readonly label: string
  /** The scheme, why, and the page that explains it; absent if the answer only changes the code. */
  readonly scheme?: string
  readonly why?: string
  readonly page?: string
  /** What else to know. */
  readonly beware?: string
}

/** What a handler does that must happen once. The order is that of the guide: the cheapest first. */
export const effects = {
  harmless: {
    label: 'it overwrites, deletes or refreshes: twice is the same as once',
    scheme: "a handler with delivery: 'at-least-once'",
    why: 'a transaction, retries and dead letters, but no record, which nobody needs here',
    page: 'guides/choosing.md#when-you-need-nothing',
    beware: 'A late message may still overwrite a newer one. If that can happen, choose latest or state.',
  },
  sampled: {
    label: 'it counts or logs, and some of it may be lost',
    scheme: "a handler with delivery: 'at-most-once'",
    why: 'acknowledged first, so that nothing is done twice and a crash loses what was running',
    page: 'guides/semantics.md',
  },
  rows: {
    label: 'it writes rows: adds, books, reserves',
    scheme: 'an exactly-once handler, which is the default',
    why: 'the record of the message and the rows commit in one transaction, or none of them does',
    page: 'guides/choosing.md#by-situation',
  },
  insert: {
    label: 'it creates something that has a business key, such as an order number',
    scheme: 'an exactly-once handler with insertOnce()',
    why: 'the unique index refuses a second row even if another message says the same',
    page: 'guides/schemes.md#unique-index',
  },
  state: {
    label: 'it moves something from state to state, such as an order or a shipment',
    scheme: 'an exactly-once handler with a state machine',
    why: 'a message that comes too late or twice under another id finds a state that refuses it',
    page: 'guides/schemes.md#state-machine',
  },
  latest: {
    label: 'it keeps the newest version, such as a profile or a price',
    scheme: 'an exactly-once handler with upsertLatest()',
    why: 'an older message cannot overwrite a newer one',
    page: 'guides/schemes.md#timestamp',
  },
  'keyed-call': {
    label: 'it calls a service that takes idempotency keys',
    scheme: 'intend() and an effect with keyed: true',
    why: 'the call is decided in the transaction and made after it, always with the same key: once at the provider',
    page: 'guides/external-calls.md',
  },
  'probed-call': {
    label: 'it calls a service without such keys, which can be asked whether something happened',
    scheme: 'intend() and an effect with a probe',
    why: 'the provider is asked before a call is repeated whose outcome nobody knows',
    page: 'guides/external-calls.md',
    beware: 'It is once only if the answer of the provider is final by then.',
  },
  'blind-call': {
    label: 'it calls a service that has neither keys nor answers',
    scheme: 'intend(): at most once by itself',
    why: 'a call whose outcome nobody knows waits for a person, and is never repeated or dropped silently',
    page: 'guides/external-calls.md',
    beware: 'Somebody must look: set an alert for unknown-intents.',
  },
} as const satisfies Record<string, Answer>

export const databases = {
  postgres: { label: 'Postgres' },
  mysql: { label: 'MySQL or MariaDB' },
  sqlite: { label: 'SQLite' },
  redis: {
    label: 'Redis only',
    beware:
      'Redis promises less than a SQL database: effects must go through tx, records have an expiry, and a failover may lose both. See drivers/redis.md.',
  },
} as const satisfies Record<string, Answer>

export const brokers = {
  rabbitmq: { label: 'RabbitMQ' },
  kafka: { label: 'Kafka' },
  queue: {
    label: 'none: the database is the queue',
    scheme: 'queueTransport()',
    why: 'messages are removed in the transaction that handles them: there is no gap between commit and acknowledgement',
    page: 'drivers/queue.md',
  },
  webhooks: {
    label: 'webhooks: another service calls us over HTTP',
    scheme: 'webhookTransport()',
    why: 'answered after the commit, so that the sender tries again until it has happened',
    page: 'drivers/webhooks.md',
  },
  none: {
    label: 'no messages: a route, a job or a function of my own calls it',
    scheme: 'once()',
    why: 'the same guarantee around any code, with the earlier result for whoever asks again',
    page: 'guides/once.md',
  },
} as const satisfies Record<string, Answer>

export const loads = {
  usual: { label: 'a usual number of messages' },
  many: {
    label: 'very many messages, which one statement can handle together',
    scheme: 'onBatch()',
    why: 'one claim, one statement and one commit for many messages',
    page: 'guides/choosing.md#what-it-costs',
  },
  duplicates: {
    label: 'very many duplicates, and several processes',
    scheme: 'a hot side beside the database',
    why: 'duplicates are recognised without a transaction; the record in the database still decides',
    page: 'drivers/hints.md',
  },
} as const satisfies Record<string, Answer>

export type EffectName = keyof typeof effects
export type DatabaseName = keyof typeof databases
export type BrokerName = keyof typeof brokers
export type LoadName = keyof typeof loads

export interface Choice {
  readonly effect: EffectName
  readonly database: DatabaseName
  readonly broker: BrokerName
  readonly load: LoadName
}

export const questions = {
  effect: { text: 'What does the handler do?', answers: effects },
  database: { text: 'Where are its effects, or where can a record be kept?', answers: databases },
  broker: { text: 'Where do messages come from?', answers: brokers },
  load: { text: 'How many are there?', answers: loads },
} as const satisfies Record<keyof Choice, { readonly text: string; readonly answers: Readonly<Record<string, Answer>> }>
