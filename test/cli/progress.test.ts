import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../../src/cli/run-command.ts'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { refusedLetter } from '../../src/outgoing/refused-letter.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'

let path: string

beforeEach(() => {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  path = folder.file('shop.db')
})

/** Runs a command and returns what its terminal was told beside its answer, line by line; or a pipe. */
async function saidBeside(isTTY: boolean, ...args: readonly string[]): Promise<readonly string[]> {
  const err: string[] = []
  const code = await runCommand([...args, '--store', `sqlite:${path}`], {
    out: { write: () => true },
    err: { isTTY, columns: 60, write: (text) => err.push(text) },
  })
  expect(code).toBe(0)
  const lines = err
    .join('')
    .split('\r\u001b[K')
    .slice(1)
    .map((line) => line.replace(/, for .*/, ''))
  // Where it takes long, the same is said again, with the time.
  return lines.filter((line, place) => line !== lines[place - 1])
}

async function installed() {
  const store = sqliteStore({ path })
  onTestFinished(() => store.close())
  await store.schema.install()
  return store
}

test('long work says what it does in a terminal, and leaves nothing behind; a pipe hears nothing', async () => {
  const migrating = await saidBeside(true, 'migrate')
  expect(migrating).toEqual(['Bringing the tables up to date', '', 'Making room for records', ''])
  const store = await installed()
  await store.retention.raise(7 * 86_400_000)
  const maintaining = await saidBeside(true, 'maintain')
  expect(maintaining).toEqual(['Making room for records', '', 'Removing records', '0 records removed', ''])
  expect(await saidBeside(false, 'maintain')).toEqual([])
})

test('discarding many says how many are gone', async () => {
  const store = await installed()
  const message = { type: 'note.tagged', key: undefined, body: Uint8Array.of(1), headers: {}, sentAt: new Date() }
  const letters = Array.from({ length: 2_500 }, (_, n) => {
    const queued = { ticket: `${n}`, deliveries: 10, message: toQueue({ ...message, id: `m${n}` }).message }
    return refusedLetter({ queue: '>events' }, queued, { ...message, id: `m${n}` }, new Error('too large'), new Date())
  })
  await store.transaction((tx) => store.parking.park(tx, letters))
  const said = await saidBeside(true, 'dead-letters', 'discard', '--all', '--yes')
  expect(said).toEqual(['Discarding', '1000 of 2500 discarded', '2000 of 2500 discarded', '2500 of 2500 discarded', ''])
})
