import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Transport } from '../../src/contracts/index.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { findCodeBlocks } from '../../tools/code-blocks.ts'
import { fromRoot, makeScratchFolder } from '../../tools/repo.ts'
import { run } from '../../tools/run.ts'
import { bindTransportCases } from './bind-transport-cases.ts'

const path = 'docs/drivers/write-your-own.md'
const blocks = findCodeBlocks({ path, text: readFileSync(fromRoot(path), 'utf8') })
const folder = makeScratchFolder('write-your-own')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

for (const { words, code } of blocks) {
  const file = words.find((word) => word.startsWith('file='))?.slice('file='.length)
  if (file !== undefined) writeFileSync(join(folder, file), `${code}\n`)
}

interface Driver {
  folderTransport(options: {
    folder: string
    visibilityMs: number
    every?: (ms: number, beat: () => void) => () => void
  }): Promise<Transport>
}
const { folderTransport } = (await import(join(folder, 'folder-transport.ts'))) as Driver

async function open(): Promise<TransportCaseContext> {
  const queue = await mkdtemp(join(tmpdir(), 'justonce-folder-'))
  const connections: Transport[] = []
  const connect = async (mortality: object = {}): Promise<Transport> => {
    const transport = await folderTransport({ folder: queue, visibilityMs: 1_000, ...mortality })
    connections.push(transport)
    return transport
  }
  return {
    connect: () => connect(),
    connectMortal: async () => ({ transport: await connect({ every: () => () => {} }), die: async () => {} }),
    async close() {
      for (const transport of connections) await transport.close()
      await rm(queue, { recursive: true, force: true })
    },
  }
}

bindTransportCases('the driver of write-your-own.md', { open })

test("the page's own test passes with the page's own command", async () => {
  const command =
    blocks
      .find(({ language }) => language === 'sh')
      ?.code.trim()
      .split(' ') ?? []
  expect(command[0]).toBe('node')
  const [, ...args] = command
  const { ok, output } = await run(process.execPath, ['--conditions=justonce-source', ...args], { cwd: folder })
  expect(output).toMatch(/^ℹ pass [1-9]\d+$/m)
  expect(output).toMatch(/^ℹ fail 0$/m)
  expect(ok).toBe(true)
})
