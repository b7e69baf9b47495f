import { expect, test } from 'vitest'
import type { Command } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { findCodeBlocks, readPages } from '../../tools/code-blocks.ts'
import type { RepoFile } from '../../tools/repo.ts'

/** What a page tells its reader to type: lines of shell, and code within a sentence. */
function commandsOf(page: RepoFile): readonly string[] {
  const blocks = findCodeBlocks(page).filter(({ language }) => language === 'sh')
  const lines = blocks.flatMap(({ code }) => code.split('\n'))
  const inSentences = [...page.text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, code = '']) => code,
  )
  const each = [...lines.flatMap((line) => line.split(/&&|\|\|?|;|\s#\s/)), ...inSentences]
  return each.flatMap((text) => /(?:^|\s)(?:npx )?justonce ([a-z-].*)$/.exec(text.trim())?.[1] ?? [])
}

function whatIsUnknown(text: string): string | undefined {
  const [name = '', ...rest] = text.trim().split(/\s+/)
  if (['--help', '--version'].includes(name)) return undefined
  const command: Command | undefined = commands.find((each) => each.name === name)
  if (command === undefined) return `there is no command ${name}`
  const [first = ''] = rest
  const action = command.actions?.find((each) => each.name === first)
  if (command.actions !== undefined && action === undefined && /^[a-z]/.test(first)) return `${name} cannot ${first}`
  const help = command.helpFor?.(rest) ?? command.help
  const flag = rest.map((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1]).find((each) => each && !help.includes(each))
  return flag === undefined ? undefined : `${name} has no ${flag}`
}

test('every command that a page names exists, with its options', () => {
  const unknown = readPages().flatMap((page) =>
    commandsOf(page).flatMap((text) => {
      const problem = whatIsUnknown(text)
      return problem === undefined ? [] : [`${page.path}: justonce ${text}: ${problem}`]
    }),
  )
  expect(unknown).toEqual([])
})

test('a command, an action and an option that do not exist are found', () => {
  const text =
    '```sh\nnpx justonce stats --store x && justonce dead-letters drop\n```\n`justonce migrate --force`, `justonce status`'
  expect(commandsOf({ path: 'docs/x.md', text }).map(whatIsUnknown)).toEqual([
    'there is no command stats',
    'dead-letters cannot drop',
    'migrate has no --force',
    undefined,
  ])
})
