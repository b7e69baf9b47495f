import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { libraries, scratchFolder } from './open-sqlite.ts'

describe.each(libraries)('a file that is away at the start, under $name', ({ store: storeAt, open }) => {
  function openApp() {
    const folder = scratchFolder()
    // Of a disk that is not mounted yet.
    const path = folder.file('disk/app.db')
    const store = storeAt({ path })
    const transport = memoryTransport()
    const app = justonce({ store, transport })
    app.on('note.created', 'tag-note', (message, { tx }) => {
      tx.exec('CREATE TABLE IF NOT EXISTS effects (id text NOT NULL)')
      tx.prepare('INSERT INTO effects VALUES (?)').run(message.id)
    })
    const kinds: string[] = []
    app.events.listen(({ kind }) => kinds.push(kind))
    onTestFinished(async () => {
      await app.stop()
      await store.close()
      folder.remove()
    })
    const effects = (): unknown[] => {
      const outside = open(path)
      try {
        return outside.prepare('SELECT id FROM effects').all()
      } finally {
        outside.close()
      }
    }
    return { path, app, transport, kinds, effects }
  }

  test('is waited for, and then everything is as ever', async () => {
    const { path, app, transport, kinds, effects } = openApp()
    const started = app.start()
    await vi.waitFor(() => expect(kinds).toEqual(['store-down']), { timeout: 10_000 })
    mkdirSync(dirname(path))
    await started
    expect(kinds).toContain('store-up')
    for (let copy = 0; copy < 2; copy++) {
      transport.send({ id: 'm1', type: 'note.created', body: {} })
      await transport.idle()
    }
    expect(effects()).toEqual([{ id: 'm1' }])
  }, 30_000)

  test('is waited for only as long as one likes', async () => {
    const { app, kinds } = openApp()
    await expect(app.start({ withinMs: 500 })).rejects.toThrow()
    expect(kinds).toEqual(['store-down'])
  }, 30_000)
})
