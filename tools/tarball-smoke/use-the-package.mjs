import assert from 'node:assert/strict'

/**
 * A small run through the installed package, shared by the ES module and the CommonJS smoke script.
 * `modules` holds each entry by its key in "exports": modules['.'], modules['./sqlite'], …
 */
export async function useThePackage(modules) {
  const { justonce, once } = modules['.']
  const { sqliteStore } = modules['./sqlite']
  const { queueTransport } = modules['./queue']
  const { memoryStore, memoryTransport } = modules['./memory']

  const store = sqliteStore({ path: ':memory:' })
  await handleTwice(justonce, store, memoryTransport(), async (tx) => {
    tx.exec('create table if not exists invoices (id text)')
    tx.exec("insert into invoices values ('m1')")
  })
  const invoices = await store.transaction(async (tx) => tx.prepare('select * from invoices').all())
  assert.equal(invoices.length, 1)
  const charge = () => once(store, { handler: 'charge', key: 'e1' }, async () => ({ charged: 1 }))
  assert.deepEqual([(await charge()).status, (await charge()).status], ['processed', 'duplicate'])
  await openDashboard(modules, store)
  await store.close()

  const inMemory = memoryStore()
  let runs = 0
  const queue = queueTransport({ store: inMemory })
  const app = justonce({ store: inMemory, transport: queue })
  app.on('note.created', 'count', () => void runs++)
  await app.start()
  for (let copy = 0; copy < 2; copy++) await app.publish('note.created', {}, { id: 'm1' })
  while ((await inMemory.queue.count('default')).ready + (await inMemory.queue.count('default')).hidden > 0) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await app.stop()
  assert.equal(runs, 1)
}

/** The page is in the package, and needs nothing that is not. */
async function openDashboard(modules, store) {
  const operations = modules['.'].operations(store)
  const { handle } = modules['./dashboard'].dashboard(operations, { access: () => ({ may: ['read'] }) })
  const page = await (await handle(new Request('http://localhost/'))).text()
  assert.match(page, /<style>.{1000}/s)
  assert.match(page, /<script type="module">.{10000}/s)
  const overview = await handle(new Request('http://localhost/api/overview'))
  assert.equal((await overview.json()).store.name, 'sqlite')
}

async function handleTwice(justonce, store, transport, effect) {
  const app = justonce({ store, transport })
  app.on('order.paid', 'write-invoice', (_, { tx }) => effect(tx))
  await app.start()
  for (let copy = 0; copy < 2; copy++) transport.send({ id: 'm1', type: 'order.paid', body: {} })
  await transport.idle()
  await app.stop()
}
