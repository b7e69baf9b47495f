import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { note } from '../app/open-app.ts'
import { openEngine } from '../app/open-engine.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { type CountingProxy, countingProxy } from './counting-proxy.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'

const server = await requireServer('postgres')

/**
 * `pg` opens and locks the row, runs the statement, and takes the way back, what became of the message and the commit as one. The
 * others send some of that apart.
 */
const ofAttempt = { pg: 3, 'pg that pipelines': 5, 'postgres.js': 5 }

describe.skipIf(!server.available).each(poolsOf)('$client: a retry that fails', ({ client, open }) => {
  const attemptTrips = ofAttempt[client as keyof typeof ofAttempt]
  let proxy: CountingProxy
  let shared: SharedPool
  beforeEach(async () => {
    const url = await createDatabase(server.url)
    proxy = await countingProxy(url, ['tag-note'])
    shared = open({ url: proxy.url(url) })
    await shared.store.schema.install()
    await shared.query('CREATE TABLE tags (note text NOT NULL)')
  })
  afterEach(async () => {
    await shared.close()
    await proxy.stop()
  })

  test(`one transaction of ${attemptTrips} round trips with one statement, 1 to reserve it and 1 to book it`, async () => {
    const { on, handle, retry, eventsOf } = openEngine({ store: shared.store as never })
    on('note.created', { name: 'tag-note', retry: { attempts: 5, backoff: () => 0 } }, async ({ id }, { tx }) => {
      await shared.run(tx, `INSERT INTO tags VALUES ('${id}')`)
      throw new Error('no')
    })
    await handle(note('m1'))
    // Until everything is prepared.
    await retry()
    proxy.trips()
    proxy.all()
    for (let attempt = 3; attempt <= 5; attempt++) {
      await retry()
      expect(proxy.trips()).toEqual([attemptTrips])
      expect(proxy.all()).toBe(1 + 1 + attemptTrips)
    }
    expect(eventsOf('parked').map(({ attempts, state }) => [attempts, state])).toEqual([
      [1, 'waiting'],
      [2, 'waiting'],
      [3, 'waiting'],
      [4, 'waiting'],
      [5, 'dead'],
    ])
  })
})
