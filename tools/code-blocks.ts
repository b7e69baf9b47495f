import { type RepoFile, readRepoFiles } from './repo.ts'

export interface CodeBlock {
  path: string
  /** The line of the first line of code, counted from 1. */
  line: number
  language: string
  /** What follows the language on the fence: `ignore`, `run`. */
  words: readonly string[]
  code: string
}

/** The fenced code blocks of a Markdown file, in order. */
export function findCodeBlocks({ path, text }: RepoFile): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { indent: number; fence: string; line: number; info: string; code: string[] } | undefined
  text.split('\n').forEach((line, index) => {
    const content = line.trimStart()
    const fence = /^`{3,}/.exec(content)?.[0]
    if (open === undefined) {
      if (fence === undefined) return
      const indent = line.length - content.length
      open = { indent, fence, line: index + 2, info: content.slice(fence.length).trim(), code: [] }
    } else if (fence !== undefined && fence.length >= open.fence.length && content.trim() === fence) {
      const [language = '', ...words] = open.info.split(/\s+/)
      blocks.push({ path, line: open.line, language, words, code: open.code.join('\n') })
      open = undefined
    } else open.code.push(line.slice(Math.min(open.indent, line.length - content.length)))
  })
  return blocks
}

/** The pages a user reads. */
export function readPages(): RepoFile[] {
  return readRepoFiles(
    (path) => path.endsWith('.md') && (/^README\.(?:[\w-]+\.)?md$/.test(path) || /^(?:docs|examples)\//.test(path)),
  )
}
