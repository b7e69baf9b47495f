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

export const sources: Readonly<Record<BrokerName, Piece>> = {
  rabbitmq: {
    imports: ["import * as amqplib from 'amqplib'", "import { rabbitmqTransport } from 'justonce/rabbitmq'"],
    lines: [
      "const from = rabbitmqTransport({ client: amqplib, url: 'amqp://localhost', queue: 'orders', declare: { type: 'quorum' } })",
    ],
  },
  kafka: {
    imports: ["import * as kafka from '@platformatic/kafka'", "import { kafkaTransport } from 'justonce/kafka'"],
    lines: [
      "const from = kafkaTransport({ kafka, bootstrapServers: 'localhost:9092', topics: ['orders'], group: 'billing' })",
    ],
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
