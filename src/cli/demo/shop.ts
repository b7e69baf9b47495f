import { justonce, messages, PermanentError } from '../../index.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { queueTransport } from '../../transports/queue/index.ts'

interface Payment {
  readonly cents: number
}

export type Shop = ReturnType<typeof openShop>

/** An app on a file: a queue, a handler that books payments, and nothing that protects the bookings but justonce. */
export function openShop(path: string) {
  const store = sqliteStore({ path })
  const transport = queueTransport({ store, queue: 'payments', pollMs: 50, visibilityMs: 2_000 })
  const app = justonce({
    name: 'demo',
    store,
    transport,
    log: false,
    messages: messages<{ 'payment.received': Payment }>(),
  })
  app.on('payment.received', { name: 'book-payment', breaker: false }, ({ body, id }, { tx }) => {
    // No unique key on purpose: a payment that is booked twice is seen.
    if (body.cents === 0) throw new PermanentError(`The payment ${id} is empty`)
    tx.prepare('INSERT INTO bookings (payment, cents) VALUES (?, ?)').run(id, body.cents)
  })
  return { store, transport, app }
}

export async function prepareShop({ store }: Shop): Promise<void> {
  await store.schema.install()
  await store.transaction(async (tx) =>
    tx.exec('CREATE TABLE bookings (payment TEXT NOT NULL, cents INTEGER NOT NULL)'),
  )
}

/** A payment, every fourth of them sent twice and every fiftieth one that cannot be booked. */
export async function sendPayment({ transport }: Shop, number: number): Promise<number> {
  const message = {
    id: `payment-${number}`,
    type: 'payment.received',
    body: new TextEncoder().encode(JSON.stringify({ cents: number % 50 === 0 ? 0 : 100 })),
    headers: {},
    key: undefined,
    sentAt: new Date(),
  }
  const copies = number % 4 === 0 ? [message, message] : [message]
  await transport.publish(copies)
  return copies.length
}

/** How many bookings there are, and of how many different payments. */
export async function countBookings({
  store,
}: Shop): Promise<{ readonly bookings: number; readonly payments: number }> {
  return await store.transaction(async (tx) => {
    const row = tx.prepare('SELECT count(*) AS bookings, count(DISTINCT payment) AS payments FROM bookings').get()
    return row as unknown as { readonly bookings: number; readonly payments: number }
  })
}
