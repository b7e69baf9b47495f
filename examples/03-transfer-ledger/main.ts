import { justonce, messages, PermanentError } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { insertManyOnce, recordEntry, settleEntries, transfer } from 'justonce/patterns'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'

type Transfer = { readonly from: string; readonly to: string; readonly cents: number }
type Types = { 'transfer.ordered': Transfer; 'interest.paid': { readonly account: string; readonly cents: number } }

const books = { ledger: 'entries', balances: 'accounts' }
const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport()
const app = justonce({ store, transport: broker, messages: messages<Types>(), log: false })

// Two entries, two balances, one transaction. The ledger's own unique index is a second lock behind the inbox.
app.on('transfer.ordered', 'transfer', async ({ id, body }, { tx }) => {
  const { from, to, cents } = body
  const outcome = await transfer(tx, books, { transfer: id, from, to, amount: cents })
  if (outcome.kind === 'refused') throw new PermanentError(`${from} has only ${outcome.balance}.`)
})

// For accounts that everybody pays into: only the entry now, the balance later, so that nobody waits for anybody.
app.on('interest.paid', 'interest', async ({ id, body }, { tx }) => {
  await recordEntry(tx, books, { transfer: id, account: body.account, amount: body.cents })
})

await store.schema.install()
await store.transaction(async (tx) => {
  tx.exec('create table accounts (account text primary key, balance integer)')
  tx.exec(`create table entries (transfer text, account text, amount integer, settled integer default 1,
           unique (transfer, account))`)
  const rows = ['ada', 'bob'].map((account) => ({ account, balance: 50_000 }))
  await insertManyOnce(tx, 'accounts', rows, { unique: ['account'] })
})

await app.start()
const order = { id: 't-8', type: 'transfer.ordered', body: { from: 'ada', to: 'bob', cents: 10_000 } }
const tooMuch = { id: 't-9', type: 'transfer.ordered', body: { from: 'ada', to: 'bob', cents: 90_000 } }
const interest = { id: 'i-1', type: 'interest.paid', body: { account: 'ada', cents: 500 } }
broker.send([order, order, order, tooMuch, interest, interest])
await broker.idle()

const balances = () =>
  store.transaction(async (tx) => {
    const rows = tx.prepare('select * from accounts order by account').all()
    return rows.map(({ account, balance }) => `${account} ${balance}`).join(', ')
  })
console.log(`naive:    ${await naive()}`)
console.log(`justonce: ${await balances()}`)
await store.transaction(async (tx) => {
  while ((await settleEntries(tx, books)) > 0);
})
console.log(`settled:  ${await balances()}`)
for (const letter of await app.operations.letters.list()) console.log(`refused:  ${letter.key}`)
await app.stop()
await store.close()
