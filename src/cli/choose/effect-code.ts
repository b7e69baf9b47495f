import type { Choice, DatabaseName } from './decisions.ts'
import { type Piece, stores } from './pieces.ts'

/** Whether several databases take part in it. */
export function isReservation({ effect }: Choice): boolean {
  return effect === 'several-databases'
}

/** The effect that it intends, if it does. */
export function nameOfEffect(choice: Choice): 'receipt.send' | 'reserve-order' | undefined {
  if (isReservation(choice)) return 'reserve-order'
  return choice.effect.endsWith('-call') ? 'receipt.send' : undefined
}

/** How that effect is carried out. */
export function effectOf(choice: Choice): Piece {
  if (isReservation(choice)) return reservation(choice.database)
  if (choice.effect === 'keyed-call') return http(', keyed: true')
  if (choice.effect === 'blind-call') return http('')
  return choice.effect === 'probed-call' ? probed : { lines: [] }
}

function http(options: string): Piece {
  return {
    imports: ["import { effects, httpEffect } from 'justonce'"],
    lines: [`app.effect('receipt.send', httpEffect({ url: 'https://mail.example/receipts'${options} }))`],
  }
}

const probed: Piece = {
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

/** Nothing can be set aside in Redis. */
function reservation(database: DatabaseName): Piece {
  const { imports = [], lines } = stores[database === 'redis' ? 'postgres' : database]
  const named = (name: string) =>
    lines.map((line) => line.replace('const store', `const ${name}`).replace('shop', name))
  return {
    imports: [
      ...imports,
      "import { effects, participantIn, PermanentError } from 'justonce'",
      "import { release, reserve, take } from 'justonce/patterns'",
    ],
    lines: [
      ...named('stock'),
      ...named('credit'),
      'for (const place of [stock, credit]) await place.schema.install()',
      'const sure = ({ kind }: { readonly kind: string }) => {',
      "  if (kind !== 'moved') throw new PermanentError('It is ' + kind) // in try(), everything is given back then",
      '}',
      'const partIn = (place: typeof stock) =>',
      '  participantIn(place, {',
      "    try: async (tx) => sure(await reserve(tx, 'amounts', { name: 'pens' }, { amount: 1 })),",
      "    confirm: async (tx) => sure(await take(tx, 'amounts', { name: 'pens' }, { amount: 1 })),",
      "    cancel: async (tx) => sure(await release(tx, 'amounts', { name: 'pens' }, { amount: 1 })),",
      '  })',
      "app.reservation('reserve-order', { participants: { stock: partIn(stock), credit: partIn(credit) } })",
    ],
  }
}
