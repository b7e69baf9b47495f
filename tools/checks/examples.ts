import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCodeBlocks, readPages } from '../code-blocks.ts'
import { fromRoot, listRepoPaths, makeScratchFolder, type RepoFile, readRepoFiles } from '../repo.ts'
import { run } from '../run.ts'
import type { Check } from './check.ts'
import { translations } from './translations.ts'

export interface Program {
  /** What the reader calls it: a path, or a page and line. */
  name: string
  expectedOutput: string | undefined
  source: { file: string } | { code: string }
}

/** Runs each program against the sources and compares what it prints. */
export async function findBrokenPrograms(programs: readonly Program[]): Promise<string[]> {
  const folder = makeScratchFolder('examples')
  const problems: string[] = []
  try {
    for (const [index, program] of programs.entries()) {
      const problem = await whatIsWrong(program, join(folder, `program-${index}.ts`))
      if (problem !== undefined) problems.push(`${program.name} ${problem}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return problems
}

async function whatIsWrong({ source, expectedOutput }: Program, scratchFile: string): Promise<string | undefined> {
  if (expectedOutput === undefined) return 'says nowhere what it prints'
  if ('code' in source) writeFileSync(scratchFile, source.code)
  const file = 'code' in source ? scratchFile : source.file
  const { ok, stdout, output } = await run(process.execPath, ['--conditions=justonce-source', file], {
    timeoutMs: 60_000,
  })
  if (!ok) return `failed:\n${output.trim()}`
  if (stdout.trim() !== expectedOutput.trim())
    return `printed:\n${stdout.trim()}\ninstead of:\n${expectedOutput.trim()}`
  return undefined
}

/** The ```ts run blocks of a page; the ```text block that comes next is what they print. */
export function runnableBlocks(page: RepoFile): Program[] {
  const blocks = findCodeBlocks(page)
  return blocks.flatMap((block, index) => {
    if (block.language !== 'ts' || !block.words.includes('run')) return []
    const next = blocks[index + 1]
    const expectedOutput = next?.language === 'text' ? next.code : undefined
    return [{ name: `${block.path}:${block.line}`, expectedOutput, source: { code: block.code } }]
  })
}

/** Those that need a server are run by a test, which has one. */
const runByTests = new Map([['examples/09-kafka-positions/main.ts', 'test/kafka/example.test.ts']])

/** Each example has a page that says what it is about and how to run it. */
export function findExamplesWithoutPage(files: readonly RepoFile[]): string[] {
  const folders = new Set(files.flatMap(({ path }) => /^(examples\/\d\d-[^/]+)\//.exec(path)?.[1] ?? []))
  return [...folders].flatMap((folder) => {
    const page = files.find(({ path }) => path === `${folder}/README.md`)
    const command = `npm run example ${folder.slice('examples/'.length, 'examples/00'.length)}`
    if (page === undefined) return [`${folder} has no README.md`]
    return page.text.includes(command) ? [] : [`${page.path} does not say: ${command}`]
  })
}

function exampleFolders(): Program[] {
  return listRepoPaths()
    .filter((path) => /^examples\/[^/]+\/main\.ts$/.test(path) && !runByTests.has(path))
    .map((path) => {
      const expected = fromRoot(path.replace(/main\.ts$/, 'expected.txt'))
      const expectedOutput = existsSync(expected) ? readFileSync(expected, 'utf8') : undefined
      return { name: path, expectedOutput, source: { file: fromRoot(path) } }
    })
}

export const examplesCheck: Check = {
  name: 'examples',
  async run() {
    // The programs of translated pages are those of their originals, which the check of translations sees to.
    const pages = readPages().filter(({ path }) => !translations.some(([translated]) => translated === path))
    const broken = await findBrokenPrograms([...pages.flatMap(runnableBlocks), ...exampleFolders()])
    return { problems: [...broken, ...findExamplesWithoutPage(readRepoFiles((path) => path.startsWith('examples/')))] }
  },
}
