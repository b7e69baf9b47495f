import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { fromRoot } from '../../tools/repo.ts'

test('whatever a process says arrives, also if nobody reads it for a while', async () => {
  const line = `${'x'.repeat(99)}\n`
  const program = `
    import { writeAll } from '${fromRoot('test/crash/fixtures/write-all.ts')}'
    process.stdout.write('') // from here on, Node does not wait for it
    process.stderr.write('begun')
    for (let i = 0; i < 10_000; i++) writeAll(1, ${JSON.stringify(line)})`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  const ended = once(child, 'close')
  await once(child.stderr, 'data')
  expect(await text(child.stdout)).toBe(line.repeat(10_000))
  expect(await ended).toEqual([0, null])
})
