import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const nobody = 54_321

/** A store that belongs to a user whom the system has no name for, as in a container with a random user. */
async function openForNobody() {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('shop.db')
  const store = sqliteStore({ path })
  await store.schema.install()
  await store.close()
  chmodSync(dirname(path), 0o777)
  chownSync(path, nobody, nobody)
  return (...args: readonly string[]) => {
    const { USER: _, LOGNAME: __, USERNAME: ___, ...env } = process.env
    const child = spawn(process.execPath, [main, ...args, '--store', `sqlite:${path}`], {
      ...{ uid: nobody, gid: nobody, stdio: ['ignore', 'pipe', 'pipe'], cwd: dirname(path) },
      env: { ...env, HOME: dirname(path) },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
}

test.skipIf(process.getuid?.() !== 0)('a user without a name signs with the number of the user', async () => {
  const run = await openForNobody()
  const pausing = run('handlers', 'pause', 'tag-note')
  expect(await once(pausing, 'exit')).toEqual([0, null])
  const listing = run('audit', '--json')
  const [said] = await once(listing.stdout.setEncoding('utf8'), 'data')
  expect(JSON.parse(said)).toMatchObject([{ action: 'pause', by: `uid ${nobody}` }])
  const serving = run('dashboard', '--port', '0', '--json')
  const [first] = await Promise.race([
    once(serving.stdout.setEncoding('utf8'), 'data'),
    once(serving.stderr.setEncoding('utf8'), 'data'),
  ])
  const { url } = JSON.parse(first) as { url: string }
  expect(await (await fetch(`${url}api/session`)).json()).toMatchObject({ by: `uid ${nobody}` })
})
