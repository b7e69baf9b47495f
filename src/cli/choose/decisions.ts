import type { Answer } from './answer.ts'
import { effects } from './effects.ts'

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
  'kafka-positions': {
    label: 'Kafka topics in which no producer sends a message twice, such as change data capture',
    scheme: "kafkaTransport() with dedup: 'position'",
    why: 'one row for each partition instead of one for each message, moved in the transaction of the effects',
    page: 'drivers/kafka.md#position-mode',
    example: '09-kafka-positions',
    beware:
      'What a producer sends again is another record at another position, and is handled. If that can happen, choose kafka.',
  },
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
    example: '10-webhook',
  },
  none: {
    label: 'no messages: a route, a job or a function of my own calls it',
    scheme: 'once()',
    why: 'the same guarantee around any code, with the earlier result for whoever asks again',
    page: 'guides/once.md',
    example: '12-http-api',
  },
} as const satisfies Record<string, Answer>

export const loads = {
  usual: { label: 'a usual number of messages' },
  many: {
    label: 'very many messages, which one statement can handle together',
    scheme: 'onBatch()',
    why: 'one claim, one statement and one commit for many messages',
    page: 'guides/running.md#many-messages-with-a-few-statements',
    example: '06-page-statistics',
  },
  far: {
    label: 'a usual number, and the database is half a millisecond away or more',
    scheme: 'a handler with interleave: true',
    why: 'a batch takes as many round trips as one message',
    page: 'guides/interleave.md',
    beware: 'Not for a handler that reads a row and writes what it has computed from it: prove() finds out.',
  },
  duplicates: {
    label: 'very many duplicates, and several processes',
    scheme: 'a hot side beside the database',
    why: 'duplicates are recognised without a transaction; the record in the database still decides',
    page: 'drivers/hints.md',
    example: '17-redis-setnx',
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
