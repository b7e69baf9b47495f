import type { BrokerName, Choice, DatabaseName, EffectName } from './decisions.ts'

interface Piece {
  readonly imports?: readonly string[]
  readonly lines: readonly string[]
}

const stores: Readonly<Record<DatabaseName, Piece>> = {
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

const sources: Readonly<Record<BrokerName, Piece>> = {
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

/** One statement by the client of each database. */
const write: Readonly<Record<DatabaseName, string>> = {
  postgres: "await tx.query('INSERT INTO bookings (order_id) VALUES ($1)', [body.order])",
  mysql: "await tx.execute('INSERT INTO bookings (order_id) VALUES (?)', [body.order])",
  sqlite: "tx.prepare('INSERT INTO bookings (order_id) VALUES (?)').run(body.order)",
  redis: "await tx.command('HINCRBY', 'bookings', body.order, '1')",
}

const calls: readonly EffectName[] = ['keyed-call', 'probed-call', 'blind-call']

/** What is inside the handler. */
function workOf({ effect, database }: Choice): Piece {
  if (calls.includes(effect))
    return { lines: ["await intend('receipt.send', { order: body.order }, { key: body.order })"] }
  if (database !== 'redis') {
    if (effect === 'insert')
      return {
        imports: ["import { insertOnce } from 'justonce/patterns'"],
        lines: ["await insertOnce(tx, 'invoices', { order_id: body.order }, { unique: ['order_id'] })"],
      }
    if (effect === 'state')
      return {
        imports: ["import { PermanentError } from 'justonce'", "import { transition } from 'justonce/patterns'"],
        lines: [
          "const moved = await transition(tx, 'orders', { id: body.order }, { column: 'state', from: 'new', to: 'paid' })",
          "if (moved.kind === 'refused') throw new PermanentError('It cannot be paid any more.')",
        ],
      }
    if (effect === 'latest')
      return {
        imports: ["import { upsertLatest } from 'justonce/patterns'"],
        lines: [
          'const row = { id: body.order, changed_at: body.at }',
          "await upsertLatest(tx, 'orders', row, { unique: ['id'], by: 'changed_at' })",
        ],
      }
  }
  return { lines: [write[database]] }
}

function effectOf({ effect }: Choice): Piece {
  const http = (options: string): Piece => ({
    imports: ["import { effects, httpEffect } from 'justonce'"],
    lines: [`app.effect('receipt.send', httpEffect({ url: 'https://mail.example/receipts'${options} }))`],
  })
  if (effect === 'keyed-call') return http(', keyed: true')
  if (effect === 'blind-call') return http('')
  if (effect !== 'probed-call') return { lines: [] }
  return {
    imports: ["import { effects } from 'justonce'"],
    lines: [
      "app.effect('receipt.send', {",
      '  async run({ payload }, { idempotencyKey, signal }) {',
      '    const body = JSON.stringify({ ...payload, reference: idempotencyKey })',
      "    const answer = await fetch('https://mail.example/receipts', { method: 'POST', body, signal })",
      "    if (!answer.ok) throw new Error('It answered ' + answer.status)",
      '  },',
      '  async probe(_, { idempotencyKey, signal }) {',
      "    const answer = await fetch('https://mail.example/receipts?reference=' + idempotencyKey, { signal })",
      "    if (answer.status === 404) return { status: 'did-not-happen' }",
      "    if (!answer.ok) throw new Error('It answered ' + answer.status) // It cannot say: it is asked again.",
      "    return { status: 'happened' }",
      '  },',
      '})',
    ],
  }
}

function registration(choice: Choice): readonly string[] {
  const { effect, broker, load } = choice
  const isCall = calls.includes(effect)
  const work = workOf(choice).lines.map((line) => `  ${line}`)
  const context = isCall ? '{ intend }' : '{ tx }'
  if (broker === 'none')
    return [
      "const body = { order: 'A17', at: Date.now() } // what your route or job was given",
      `const outcome = await app.once({ handler: 'book', key: body.order, content: body }, async (${isCall ? '_, { intend }' : 'tx'}) => {`,
      ...work,
      '})',
      "console.log(outcome.status) // 'processed', and 'duplicate' after that",
    ]
  if (load === 'many' && !isCall)
    return [
      `app.onBatch('order.paid', 'book', async (orders, ${context}) => {`,
      '  // One statement for all of them is the point; in a loop it is still right.',
      '  for (const { body } of orders) {',
      ...work.map((line) => `  ${line}`),
      '  }',
      '})',
    ]
  const delivery = effect === 'harmless' ? 'at-least-once' : effect === 'sampled' ? 'at-most-once' : undefined
  const name = delivery === undefined ? "'book'" : `{ name: 'book', delivery: '${delivery}' }`
  return [`app.on('order.paid', ${name}, async ({ body }, ${context}) => {`, ...work, '})']
}

/** A program for this choice: complete, but for tables and addresses. */
export function snippetFor(choice: Choice): string {
  const { database, broker, effect, load } = choice
  const hot = load === 'duplicates' && database !== 'redis'
  const pieces = [stores[database], sources[broker], workOf(choice), effectOf(choice)]
  const imports = [
    `import { justonce${broker === 'none' ? '' : ', messages'} } from 'justonce'`,
    ...pieces.flatMap((piece) => piece.imports ?? []),
    ...(hot ? ["import { hotSide } from 'justonce/hints'", "import { createClient } from 'redis'"] : []),
  ]
  const given = [
    'store',
    ...(broker === 'none' ? [] : ['from', "messages: messages<{ 'order.paid': { order: string; at: number } }>()"]),
    ...(calls.includes(effect) ? ["effects: effects<{ 'receipt.send': { order: string } }>()"] : []),
    ...(hot ? ['hints: hotSide({ client: await createClient({ disableOfflineQueue: true }).connect() })'] : []),
  ]
  return [
    ...joined(imports),
    '',
    ...stores[database].lines,
    ...sources[broker].lines,
    'const app = justonce({',
    ...given.map((line) => `  ${line},`),
    '})',
    '',
    ...effectOf(choice).lines,
    ...(broker === 'none' ? ['await app.start()'] : []),
    ...registration(choice),
    ...(broker === 'none' ? [] : ['await app.start()']),
    ...(broker === 'webhooks' ? ['createServer(from.nodeHandler).listen(3000)'] : []),
    '',
  ].join('\n')
}

/** One line for each module. */
function joined(imports: readonly string[]): readonly string[] {
  const named = new Map<string, Set<string>>()
  const others = new Set<string>()
  for (const line of imports) {
    const [, names, from = ''] = /^import \{ (.*) \} from '(.*)'$/.exec(line) ?? []
    if (names === undefined) others.add(line)
    else named.set(from, new Set([...(named.get(from) ?? []), ...names.split(', ')]))
  }
  const lines = [...named].map(([from, names]) => `import { ${[...names].sort().join(', ')} } from '${from}'`)
  return [...others, ...lines].sort((a, b) => (fromOf(a) < fromOf(b) ? -1 : 1))
}

function fromOf(line: string): string {
  return /'(.*)'/.exec(line)?.[1] ?? ''
}
