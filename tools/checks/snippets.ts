import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { type CodeBlock, findCodeBlocks, readPages } from '../code-blocks.ts'
import { fromRoot, makeScratchFolder, type RepoFile, repoRoot } from '../repo.ts'
import { nonEmptyLines, run } from '../run.ts'
import type { Check } from './check.ts'

/** Names that every snippet may use without declaring them, such as `pool`. */
const sharedNames = 'docs/snippet-globals.d.ts'

/** Made of declarations and of code in comments, which is written for its place and not as a module. */
const generated = /^docs\/reference\/api\//

/** A block that nothing compiles rots. So `ignore` is for what cannot be compiled: the generated reference. */
export function findIgnoredSnippets(pages: readonly RepoFile[]): string[] {
  return pages
    .filter(({ path }) => !generated.test(path))
    .flatMap(findCodeBlocks)
    .filter(({ language, words }) => language === 'ts' && words.includes('ignore'))
    .map(({ path, line }) => `${path}:${line} is not compiled: write it so that it can be, without \`ignore\``)
}

/**
 * Type-checks every ```ts block as a module of its own. Blocks with `file=name.ts` are the files of one project, so that they can
 * import each other; those with `in=name` belong to a variant of it, in which they replace the files of the same name.
 */
export async function findBrokenSnippets(pages: readonly RepoFile[]): Promise<string[]> {
  const files = new Map<string, CodeBlock>()
  for (const [index, page] of pages.entries()) {
    const blocks = findCodeBlocks(page).filter(({ language, words }) => language === 'ts' && !words.includes('ignore'))
    for (const [name, block] of namedFiles(blocks, `page-${index}`)) files.set(name, block)
    for (const block of blocks) if (fileOf(block) === undefined) files.set(`snippet-${files.size}.ts`, block)
  }
  if (files.size === 0) return []
  const folder = makeScratchFolder('snippets')
  try {
    return await typeCheck(folder, files)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function* namedFiles(blocks: readonly CodeBlock[], folder: string): Iterable<[string, CodeBlock]> {
  const named = blocks.filter((block) => fileOf(block) !== undefined)
  for (const variant of new Set(named.map((block) => wordOf(block, 'in')))) {
    const own = named.filter((block) => wordOf(block, 'in') === variant)
    const common = named.filter((block) => wordOf(block, 'in') === undefined)
    for (const block of [...common, ...own]) yield [`${folder}/${variant ?? 'main'}/${fileOf(block)}`, block]
  }
}

function fileOf(block: CodeBlock): string | undefined {
  return wordOf(block, 'file')
}

export function wordOf({ words }: CodeBlock, name: string): string | undefined {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
}

async function typeCheck(folder: string, files: ReadonlyMap<string, CodeBlock>): Promise<string[]> {
  for (const [name, block] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), asModule(block))
  }
  const config = {
    extends: fromRoot('tsconfig.json'),
    compilerOptions: { noEmit: true },
    include: ['**/*.ts', ...(existsSync(fromRoot(sharedNames)) ? [fromRoot(sharedNames)] : [])],
    exclude: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { ok, output } = await run(fromRoot('node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'])
  if (ok) return []
  const messages = nonEmptyLines(output).map((line) => atPage(line, folder, files))
  return [...new Set(messages)]
}

/** Padded with empty lines, so that the compiler's line numbers are those of the page. */
function asModule({ line, code }: CodeBlock): string {
  return `${'\n'.repeat(line - 1)}${code}\nexport {}\n`
}

function atPage(message: string, folder: string, files: ReadonlyMap<string, CodeBlock>): string {
  const [, file = '', line, rest] = /^(.*?)\((\d+),\d+\): (.*)$/.exec(message) ?? []
  const block = files.get(relative(folder, resolve(repoRoot, file)).split(sep).join('/'))
  return block === undefined ? message : `${block.path}:${line} ${rest}`
}

export const snippetsCheck: Check = {
  name: 'snippets',
  async run() {
    const pages = readPages()
    return { problems: [...findIgnoredSnippets(pages), ...(await findBrokenSnippets(pages))] }
  },
}
