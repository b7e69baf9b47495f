import { expect, test } from 'vitest'
import { findDrift } from '../../tools/checks/translations.ts'

const original = [
  '# Title',
  '## One',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',
  '```ts',
  'run() // why',
  '```',
  '```text',
  'picture',
  '```',
  '',
].join('\n')
const translated = original.replace('Title', '标题').replace('// why', '// 为什么').replace('picture', '图')
const drift = (text: string) =>
  findDrift({ path: 'docs/zh-CN/page.md', text }, { path: 'docs/guides/page.md', text: original })

test('words, comments and pictures may differ', () => {
  expect(drift(translated)).toEqual([])
})

test('headings, tables and code may not', () => {
  expect(drift(translated.replace('## One', '### One'))).toEqual([expect.stringContaining('levels 1 3')])
  expect(drift(translated.replace('| 1 | 2 |\n', ''))).toEqual([expect.stringContaining('2 rows instead of 3')])
  expect(drift(translated.replace('run()', 'walk()'))).toEqual([expect.stringContaining('the code at line 7')])
  expect(drift(translated.replace('```ts', '```ts run'))).toEqual([expect.stringContaining('line 7')])
  expect(drift(translated.replace(/```text[\s\S]*$/, ''))).toEqual([expect.stringContaining('1 code blocks')])
})
