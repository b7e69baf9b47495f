import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { bundled } from '../programs/bundled.ts'
import type { ReservationConfig } from './fixtures/reservation-config.ts'

const program = await bundled(new URL('./fixtures/reservation-process.ts', import.meta.url))

const stepsOf = (...steps: readonly string[]): readonly string[] =>
  steps.flatMap((step) =>
    ['stock', 'credit'].flatMap((name) => [`before ${step} of ${name}`, `after ${step} of ${name}`]),
  )
const decision = ['before the decision', 'after the decision']

describe('a reservation whose process is killed', () => {
  test.concurrent.each([...stepsOf('try', 'confirm'), ...decision])(
    '%s is confirmed by the next one',
    async (dieAt) => {
      await using world = await openWorld({ stock: 5, credit: 5 })
      expect(await world.run({ count: 3, dieAt })).toBe('SIGKILL')
      expect(await world.run({ count: 3 })).toBe('confirmed')
      const taken = { free: 2, held: 0, taken: 3 }
      expect(await world.counts()).toEqual({ stock: taken, credit: taken })
    },
  )

  test.concurrent.each([...stepsOf('cancel'), ...decision, 'after try of stock'])(
    '%s is cancelled by the next one',
    async (dieAt) => {
      await using world = await openWorld({ stock: 5, credit: 2 })
      expect(await world.run({ count: 3, dieAt })).toBe('SIGKILL')
      expect(await world.run({ count: 3 })).toBe('cancelled')
      expect(await world.counts()).toEqual({
        stock: { free: 5, held: 0, taken: 0 },
        credit: { free: 2, held: 0, taken: 0 },
      })
    },
  )
})

async function openWorld(free: Readonly<Record<'stock' | 'credit', number>>) {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-reservation-'))
  const inStore = async <T>(name: string, work: (tx: Parameters<Work>[0]) => T): Promise<T> => {
    const store = sqliteStore({ path: join(folder, `${name}.db`) })
    await store.schema.install()
    const answer = await store.transaction(async (tx) => work(tx))
    await store.close()
    return answer
  }
  await inStore('orders', () => {})
  for (const [name, count] of Object.entries(free))
    await inStore(name, (tx) => {
      tx.exec('create table resource (free integer, held integer, taken integer)')
      tx.prepare('insert into resource values (?, 0, 0)').run(count)
    })
  const read = (name: string) => inStore(name, (tx) => ({ ...(tx.prepare('select * from resource').get() as object) }))
  return {
    /** What it printed, or the signal that ended it. */
    run: (config: Omit<ReservationConfig, 'folder'>) =>
      new Promise<string>((resolve, reject) => {
        execFile(process.execPath, [program, JSON.stringify({ ...config, folder })], (error, stdout, stderr) => {
          if (error?.signal) resolve(error.signal)
          else if (error) reject(new Error(stderr))
          else resolve(stdout.trim())
        })
      }),
    counts: async () => ({ stock: await read('stock'), credit: await read('credit') }),
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

type Work = Parameters<ReturnType<typeof sqliteStore>['transaction']>[0]
