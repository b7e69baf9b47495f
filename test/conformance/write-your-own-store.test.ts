import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findCodeBlocks } from '../../tools/code-blocks.ts'
import { fromRoot, makeScratchFolder } from '../../tools/repo.ts'
import { run } from '../../tools/run.ts'

const path = 'docs/drivers/write-your-own-store.md'
const blocks = findCodeBlocks({ path, text: readFileSync(fromRoot(path), 'utf8') })
const folder = makeScratchFolder('write-your-own-store')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test("the page's own test passes with the page's own command", { timeout: 300_000 }, async () => {
  for (const { words, code } of blocks) {
    const file = words.find((word) => word.startsWith('file='))?.slice('file='.length)
    if (file !== undefined) writeFileSync(join(folder, file), `${code}\n`)
  }
  const [command, ...args] = blocks.find(({ language }) => language === 'sh')?.code.split(' ') ?? []
  expect(command).toBe('node')
  const { ok, output } = await run(process.execPath, ['--conditions=justonce-source', ...args], { cwd: folder })
  expect(output).toMatch(/^ℹ pass [1-9]\d\d$/m)
  expect(output).toMatch(/^ℹ fail 0$/m)
  expect(ok).toBe(true)
})
