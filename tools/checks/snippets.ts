import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type CodeBlock, findCodeBlocks, readPages } from '../code-blocks.ts'
import { fromRoot, makeScratchFolder, type RepoFile } from '../repo.ts'
import { nonEmptyLines, run } from '../run.ts'
import type { Check } from './check.ts'

/** Names that every snippet may use without declaring them, such as `pool`. */
const sharedNames = 'docs/snippet-globals.d.ts'

/** Type-checks every ```ts block as a module of its own; ```ts ignore leaves one out. */
export async function findBrokenSnippets(pages: readonly RepoFile[]): Promise<string[]> {
  const snippets = pages
    .flatMap(findCodeBlocks)
    .filter(({ language, words }) => language === 'ts' && !words.includes('ignore'))
  if (snippets.length === 0) return []
  const folder = makeScratchFolder('snippets')
  try {
    return await typeCheck(folder, snippets)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function typeCheck(folder: string, snippets: readonly CodeBlock[]): Promise<string[]> {
  const byFile = new Map(snippets.map((snippet, index) => [`snippet-${index}.ts`, snippet]))
  for (const [name, snippet] of byFile) writeFileSync(join(folder, name), asModule(snippet))
  const config = {
    extends: fromRoot('tsconfig.json'),
    compilerOptions: { noEmit: true },
    include: ['*.ts', ...(existsSync(fromRoot(sharedNames)) ? [fromRoot(sharedNames)] : [])],
    exclude: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { ok, output } = await run(fromRoot('node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'])
  if (ok) return []
  return nonEmptyLines(output).map((line) => atPage(line, byFile))
}

/** Padded with empty lines, so that the compiler's line numbers are those of the page. */
function asModule({ line, code }: CodeBlock): string {
  return `${'\n'.repeat(line - 1)}${code}\nexport {}\n`
}

function atPage(message: string, byFile: ReadonlyMap<string, CodeBlock>): string {
  const [, file = '', line, rest] = /^(.*?)\((\d+),\d+\): (.*)$/.exec(message) ?? []
  const snippet = byFile.get(basename(file))
  return snippet === undefined ? message : `${snippet.path}:${line} ${rest}`
}

export const snippetsCheck: Check = {
  name: 'snippets',
  async run() {
    return { problems: await findBrokenSnippets(readPages()) }
  },
}
