import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from './open-sqlite.ts'
import { startWorker, type Worker } from './start-worker.ts'

describe('several processes on one SQLite file', () => {
  const workers: Worker[] = []
  let folder: ReturnType<typeof scratchFolder>
  let path: string

  beforeEach(() => {
    folder = scratchFolder()
    path = folder.file('app.db')
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()))
    folder.remove()
  })

  async function start(count: number): Promise<Worker[]> {
    const started = await Promise.all(Array.from({ length: count }, () => startWorker(path)))
    workers.push(...started)
    return started
  }

  async function openInstalled() {
    const store = sqliteStore({ path })
    await store.schema.install()
    const outside = new DatabaseSync(path)
    outside.exec('CREATE TABLE effects (name text NOT NULL)')
    const effects = () =>
      outside
        .prepare('SELECT name FROM effects ORDER BY name')
        .all()
        .map((row) => row.name)
    const close = async () => {
      outside.close()
      await store.close()
    }
    return { store, effects, close }
  }

  it('ten install at once, and the tables are there once', async () => {
    const ten = await start(10)
    await Promise.all(ten.map((worker) => worker.order({ kind: 'install' })))
    const store = sqliteStore({ path })
    await store.schema.check()
    const outside = new DatabaseSync(path)
    const epochs = outside.prepare(`SELECT count(epoch) AS n FROM justonce_meta`).get()
    expect(epochs?.n).toBe(1)
    outside.close()
    await store.close()
  })

  it('two race for the same keys: each key is first once and has one effect', async () => {
    const { effects, close } = await openInstalled()
    const keys = Array.from({ length: 60 }, (_, index) => `m${String(index).padStart(2, '0')}`)
    const [one, two] = (await start(2)) as [Worker, Worker]
    const shares = (await Promise.all([
      one.order({ kind: 'claim', keys }),
      two.order({ kind: 'claim', keys: keys.toReversed() }),
    ])) as string[][]
    expect(shares.flat().sort()).toEqual(keys)
    expect(effects()).toEqual(keys)
    await close()
  })

  it('while another process holds the lock the event loop goes on, and the work after it', async () => {
    const { store, effects, close } = await openInstalled()
    const [holder] = (await start(1)) as [Worker]
    await holder.order({ kind: 'lock' })
    const waiting = store.transaction(async (tx) => tx.prepare('INSERT INTO effects (name) VALUES (?)').run('m1'))
    // Only a timer ends the lock: were the loop blocked while waiting, neither could ever go on.
    const released = new Promise((resolve) => setTimeout(resolve, 20)).then(() => holder.order({ kind: 'unlock' }))
    await waiting
    await released
    expect(effects()).toEqual(['m1'])
    await close()
  })

  it('one that is killed in the middle leaves nothing, and its claim goes to the next', async () => {
    const { store, effects, close } = await openInstalled()
    const [doomed] = (await start(1)) as [Worker]
    await doomed.order({ kind: 'claim and hang', key: 'm1' })
    const claiming = store.transaction((tx) =>
      store.inbox.claim(tx, [{ handler: 'h', key: 'm1', fingerprint: undefined }]),
    )
    await doomed.kill()
    expect((await claiming).existing).toEqual([undefined])
    expect(effects()).toEqual([])
    await close()
  })

  it('a listener hears of what another process has sent, without a notification', async () => {
    const { store, close } = await openInstalled()
    const [sender] = (await start(1)) as [Worker]
    const woken = Promise.withResolvers<void>()
    const stop = await store.queue.listen?.('notes', woken.resolve)
    await sender.order({ kind: 'send', queue: 'notes' })
    await woken.promise
    expect(await store.queue.take('notes', { limit: 10, visibilityMs: 60_000 })).toHaveLength(1)
    await stop?.()
    await close()
  })
})
