import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { expect, it } from 'vitest'

it('processes that start from one snapshot ask under different names: one would get the answers of the other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-snapshot-'))
  try {
    const [program, snapshot] = [join(folder, 'asking.cjs'), join(folder, 'asking.blob')]
    const input = fileURLToPath(new URL('./asking-process.ts', import.meta.url))
    await build({ input, platform: 'node', logLevel: 'warn', output: { file: program, format: 'cjs' } })
    execFileSync(process.execPath, ['--snapshot-blob', snapshot, '--build-snapshot', program], { stdio: 'pipe' })
    const ask = () => execFileSync(process.execPath, ['--snapshot-blob', snapshot], { encoding: 'utf8' })
    const questions = [ask(), ask()]
    for (const question of questions) expect(question).toMatch(/^justonce:\{tag\}:asked:/)
    expect(questions[0]).not.toBe(questions[1])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
