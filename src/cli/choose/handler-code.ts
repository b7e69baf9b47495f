import type { Choice, DatabaseName, EffectName } from './decisions.ts'
import type { Piece } from './pieces.ts'

/** One statement by the client of each database. */
const write: Readonly<Record<DatabaseName, string>> = {
  postgres: "await tx.query('INSERT INTO bookings (order_id) VALUES ($1)', [body.order])",
  mysql: "await tx.execute('INSERT INTO bookings (order_id) VALUES (?)', [body.order])",
  sqlite: "tx.prepare('INSERT INTO bookings (order_id) VALUES (?)').run(body.order)",
  redis: "await tx.command('HINCRBY', 'bookings', body.order, '1')",
}

const calls: readonly EffectName[] = ['keyed-call', 'probed-call', 'blind-call']

/** Whether it is a call to the outside. */
export function isCall({ effect }: Choice): boolean {
  return calls.includes(effect)
}

/** What is inside the handler. */
export function workOf(choice: Choice): Piece {
  const { effect, database } = choice
  if (isCall(choice)) return { lines: ["await intend('receipt.send', { order: body.order }, { key: body.order })"] }
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

/** The effect that it intends, if it does. */
export function effectOf({ effect }: Choice): Piece {
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

/** The handler, or the call of `once()` where there is no broker. */
export function registration(choice: Choice): readonly string[] {
  const { effect, broker, load } = choice
  const calls = isCall(choice)
  const work = workOf(choice).lines.map((line) => `  ${line}`)
  const context = calls ? '{ intend }' : '{ tx }'
  if (broker === 'none')
    return [
      "const body = { order: 'A17', at: Date.now() } // what your route or job was given",
      `const outcome = await app.once({ handler: 'book', key: body.order, content: body }, async (${calls ? '_, { intend }' : 'tx'}) => {`,
      ...work,
      '})',
      "console.log(outcome.status) // 'processed', and 'duplicate' after that",
    ]
  if (load === 'many' && !calls)
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
