import { findCodeBlocks } from '../../tools/code-blocks.ts'
import { readRepoFiles } from '../../tools/repo.ts'

const path = 'docs/operations/least-privilege.md'

/**
 * The statements of the page that tells how to set up roles, for other names than those of the page: what is tested is what users
 * copy. `about` is how the first line of the block begins.
 */
export function documentedGrants(about: string, names: Readonly<Record<string, string>>): readonly string[] {
  const [page] = readRepoFiles((each) => each === path)
  if (page === undefined) throw new Error(`There is no ${path}.`)
  const block = findCodeBlocks(page).find(({ language, code }) => language === 'sql' && code.startsWith(`-- ${about}`))
  if (block === undefined) throw new Error(`${path} has no SQL block that begins with '-- ${about}'.`)
  const words = new RegExp(`\\b(?:${Object.keys(names).join('|')})\\b`, 'g')
  const code = block.code.replace(/^--.*$/gm, '').replace(words, (name) => names[name] ?? name)
  return code
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}
