import type { Choice, DatabaseName } from './decisions.ts'
import { nameOfEffect } from './effect-code.ts'
import type { Piece } from './pieces.ts'

/** One statement by the client of each database. */
const write: Readonly<Record<DatabaseName, string>> = {
  postgres: "await tx.query('INSERT INTO bookings (order_id) VALUES ($1)', [body.order])",
  mysql: "await tx.execute('INSERT INTO bookings (order_id) VALUES (?)', [body.order])",
  sqlite: "tx.prepare('INSERT INTO bookings (order_id) VALUES (?)').run(body.order)",
  redis: "await tx.command('HINCRBY', 'bookings', body.order, '1')",
}

const permanent = "import { PermanentError } from 'justonce'"
const patterns = (names: string) => `import { ${names} } from 'justonce/patterns'`

/** The effects for which there are functions over SQL. */
const byPattern: Readonly<Partial<Record<Choice['effect'], Piece>>> = {
  insert: {
    imports: [patterns('insertOnce')],
    lines: ["await insertOnce(tx, 'invoices', { order_id: body.order }, { unique: ['order_id'] })"],
  },
  state: {
    imports: [permanent, patterns('transition')],
    lines: [
      "const moved = await transition(tx, 'orders', { id: body.order }, { column: 'state', from: 'new', to: 'paid' })",
      "if (moved.kind === 'refused') throw new PermanentError('It cannot be paid any more.')",
    ],
  },
  latest: {
    imports: [patterns('upsertLatest')],
    lines: [
      'const row = { id: body.order, changed_at: body.at }',
      "await upsertLatest(tx, 'orders', row, { unique: ['id'], by: 'changed_at' })",
    ],
  },
  stock: {
    imports: [permanent, patterns('reserve')],
    lines: [
      "const reserved = await reserve(tx, 'stock', { item: 'pen' }, { amount: 1 }) // from the column free to the column held",
      "if (reserved.kind !== 'moved') throw new PermanentError('There are no pens left.')",
    ],
  },
  ledger: {
    imports: [permanent, patterns('applyEntry')],
    lines: [
      "const books = { ledger: 'entries', balances: 'accounts' }",
      "const entry = await applyEntry(tx, books, { transfer: body.order, account: 'ada', amount: -100 })",
      "if (entry.kind === 'refused') throw new PermanentError('There is not enough in the account.')",
    ],
  },
}

/** What is inside the handler. */
export function workOf(choice: Choice): Piece {
  const { effect, database } = choice
  const name = nameOfEffect(choice)
  if (name !== undefined) return { lines: [`await intend('${name}', { order: body.order }, { key: body.order })`] }
  const pattern = database === 'redis' ? undefined : byPattern[effect]
  if (pattern !== undefined) return pattern
  if (effect !== 'services') return { lines: [write[database]] }
  return { lines: [write[database], "await publish('order.booked', { order: body.order }) // leaves after the commit"] }
}

/** What the work needs of its context, beside the transaction. */
export function needsOf(choice: Choice): { readonly tx: boolean; readonly more: readonly string[] } {
  if (nameOfEffect(choice) !== undefined) return { tx: false, more: ['intend'] }
  return { tx: true, more: choice.effect === 'services' ? ['publish'] : [] }
}

/** Whether there is a pattern for it, which needs a SQL database. */
export function isPattern({ effect }: Choice): boolean {
  return effect in byPattern
}
