import { effects, justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { sqliteStore } from 'justonce/sqlite'
import { BankWithReferences, GatewayWithKeys } from './gateways.ts'
import { naive } from './naive.ts'

type Payment = { readonly order: string; readonly amount: number }

const card = new GatewayWithKeys()
const bank = new BankWithReferences()
const broker = memoryTransport()
const app = justonce({
  store: sqliteStore({ path: ':memory:' }),
  transport: broker,
  messages: messages<{ 'order.placed': Payment }>(),
  effects: effects<{ 'card.charge': Payment; 'bank.transfer': Payment }>(),
  pollMs: 10,
  log: false,
})

// The handler only decides. That the call will be made is committed with the order, or not at all.
app.on('order.placed', 'collect', async ({ body }, { intend }) => {
  await intend(body.amount < 1_000 ? 'card.charge' : 'bank.transfer', body, { key: body.order })
})

// This provider takes an idempotency key: any failure is tried again with the same key.
app.effect('card.charge', {
  keyed: true,
  run: ({ payload }, { idempotencyKey }) => card.charge(payload.amount, idempotencyKey),
  retry: { backoff: () => 10 },
})

// This one does not, but it can be asked. It is, before anything is repeated.
app.effect('bank.transfer', {
  run: ({ payload }) => bank.transfer(payload.amount, payload.order),
  async probe({ payload }) {
    return (await bank.has(payload.order)) ? { status: 'happened' } : { status: 'did-not-happen' }
  },
  settleMs: 10, // as long as such a call can be on its way; default: 30 s
})

const done = Promise.withResolvers<void>()
const collected = new Set<string>()
app.events.listen((event) => {
  if (event.kind === 'intent-done' && collected.add(event.effect).size === 2) done.resolve()
})

await app.start()
for (const [order, amount] of [
  ['tea', 12],
  ['house', 250_000],
] as const) {
  const message = { id: `order-${order}`, type: 'order.placed', body: { order, amount } }
  broker.send([message, message]) // delivered twice, too
}
await done.promise
await app.stop()

console.log(`naive:    ${await naive()}`)
console.log(`justonce: ${card.charges.length} card charge, ${bank.transfers.length} bank transfer`)
