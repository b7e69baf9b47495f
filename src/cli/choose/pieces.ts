import type { BrokerName, DatabaseName } from './decisions.ts'

/** A part of a program, and what it imports. */
export interface Piece {
  readonly imports?: readonly string[]
  readonly lines: readonly string[]
}

export const stores: Readonly<Record<DatabaseName, Piece>> = {
  postgres: {
    imports: ["import { postgresStore } from 'justonce/postgres'", "import pg from 'pg'"],
    lines: ["const store = postgresStore({ pool: new pg.Pool({ connectionString: 'postgres://localhost/shop' }) })"],
  },
  mysql: {
    imports: ["import { mysqlStore } from 'justonce/mysql'", "import mysql from 'mysql2/promise'"],
    lines: [
      "const store = mysqlStore({ pool: mysql.createPool({ uri: 'mysql://localhost/shop', connectionLimit: 10 }) })",
    ],
  },
  sqlite: {
    imports: ["import { sqliteStore } from 'justonce/sqlite'"],
    lines: ["const store = sqliteStore({ path: 'shop.db' })"],
  },
  redis: {
    imports: ["import { redisStore } from 'justonce/redis'", "import { createClient } from 'redis'"],
    lines: [
      'const client = await createClient().connect()',
      "const store = redisStore({ client, mode: 'isolated', recordTtlMs: 30 * 24 * 3_600_000 })",
    ],
  },
}

const kafkaTopics = "bootstrapServers: 'localhost:9092', topics: ['orders'], group: 'billing'"
const kafkaImports = ["import * as kafka from '@platformatic/kafka'", "import { kafkaTransport } from 'justonce/kafka'"]

export const sources: Readonly<Record<BrokerName, Piece>> = {
  rabbitmq: {
    imports: ["import * as amqplib from 'amqplib'", "import { rabbitmqTransport } from 'justonce/rabbitmq'"],
    lines: [
      "const from = rabbitmqTransport({ client: amqplib, url: 'amqp://localhost', queue: 'orders', declare: { type: 'quorum' } })",
    ],
  },
  kafka: { imports: kafkaImports, lines: [`const from = kafkaTransport({ kafka, ${kafkaTopics} })`] },
  'kafka-positions': {
    imports: kafkaImports,
    lines: [`const from = kafkaTransport({ kafka, ${kafkaTopics}, dedup: 'position' })`],
  },
  queue: {
    imports: ["import { queueTransport } from 'justonce/queue'"],
    lines: ["const from = queueTransport({ store, queue: 'orders' })"],
  },
  webhooks: {
    imports: [
      "import { createServer } from 'node:http'",
      "import { stripeSignature, webhookTransport } from 'justonce/webhooks'",
    ],
    lines: [
      'const from = webhookTransport({',
      "  path: '/hooks',",
      "  verify: stripeSignature({ secret: process.env.WEBHOOK_SECRET ?? '' }),",
      '})',
    ],
  },
  none: { lines: [] },
}

const ownQueue: Piece = {
  imports: ["import { queueTransport } from 'justonce/queue'"],
  lines: ["const to = queueTransport({ store, queue: 'booked' }) // or the publisher of your broker"],
}

const kafkaDestination: Piece = {
  imports: ["import { kafkaPublisher } from 'justonce/kafka'"],
  lines: ["const to = kafkaPublisher({ kafka, bootstrapServers: 'localhost:9092', topic: 'booked' })"],
}

/** Where messages go that the next service reads. */
export const destinations: Readonly<Record<BrokerName, Piece>> = {
  rabbitmq: {
    imports: ["import { rabbitmqPublisher } from 'justonce/rabbitmq'"],
    lines: ["const to = rabbitmqPublisher({ client: amqplib, url: 'amqp://localhost', exchange: 'events' })"],
  },
  kafka: kafkaDestination,
  'kafka-positions': kafkaDestination,
  queue: ownQueue,
  webhooks: ownQueue,
  none: ownQueue,
}
