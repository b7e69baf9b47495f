import { expect, test } from 'vitest'
import { findStaleNames } from '../../tools/checks/architecture-page.ts'
import { findStaleErrorsPage } from '../../tools/checks/errors-page.ts'
import { findBrokenPrograms, findExamplesWithoutPage, runnableBlocks } from '../../tools/checks/examples.ts'
import { findDeadLinks, findMissingTests } from '../../tools/checks/links.ts'
import { findBrokenSnippets, findIgnoredSnippets } from '../../tools/checks/snippets.ts'
import { findCodeBlocks } from '../../tools/code-blocks.ts'
import { renderErrorsPage } from '../../tools/generate-errors-page.ts'

const page = (...lines: string[]) => ({ path: 'docs/start.md', text: lines.join('\n') })
const block = (info: string, code: string) => [`\`\`\`${info}`, code, '```']

test('finds code blocks, their info words and their line', () => {
  const text = [
    '# Title',
    ...block('ts run', 'one()'),
    '- item',
    '  ```sh',
    '  ls',
    '  ```',
    '````md',
    ...block('ts', 'x'),
    '````',
  ]
  expect(findCodeBlocks(page(...text))).toEqual([
    { path: 'docs/start.md', line: 3, language: 'ts', words: ['run'], code: 'one()' },
    { path: 'docs/start.md', line: 7, language: 'sh', words: [], code: 'ls' },
    { path: 'docs/start.md', line: 10, language: 'md', words: [], code: '```ts\nx\n```' },
  ])
})

test('a snippet with a type error is reported at its line in the page', async () => {
  const good = block('ts', "import { setTimeout } from 'node:timers/promises'\nawait setTimeout(1)")
  const bad = block('ts', 'const count: number = "one"')
  const ignored = block('ts ignore', 'const count: number = …')
  expect(await findBrokenSnippets([page('# Title', ...good, ...ignored)])).toEqual([])
  expect(await findBrokenSnippets([page('# Title', ...bad, ...good)])).toEqual([
    expect.stringMatching(/^docs\/start\.md:3 error TS2322/),
  ])
})

test('files of a page can import each other, and a variant replaces some of them', async () => {
  const files = [
    ...block('ts file=setup.ts', 'export const limit: number = 1'),
    ...block('ts file=app.ts', "import { limit } from './setup.ts'\nexport const most = limit + 1"),
  ]
  expect(await findBrokenSnippets([page(...files)])).toEqual([])
  const variant = block('ts file=setup.ts in=other', 'export const limit = new Date()')
  expect(await findBrokenSnippets([page(...files, ...variant)])).toEqual([
    expect.stringMatching(/^docs\/start\.md:6 error TS2365/),
  ])
})

test('a snippet that is left out is reported, except in the generated reference', () => {
  const text = block('ts ignore', 'x').join('\n')
  expect(findIgnoredSnippets([{ path: 'docs/start.md', text }])).toEqual([expect.stringContaining('docs/start.md:2')])
  expect(findIgnoredSnippets([{ path: 'docs/reference/api/justonce.md', text }])).toEqual([])
})

test('a program that prints something else, fails, or has no expectation is broken', async () => {
  const run = (...text: string[]) => findBrokenPrograms(runnableBlocks(page(...text)))
  const program = block('ts run', "const word: string = 'once'\nconsole.log(word)")
  expect(await run(...program, 'prints', ...block('text', 'once'))).toEqual([])
  expect(await run(...program, ...block('text', 'twice'))).toEqual([expect.stringContaining('instead of:\ntwice')])
  expect(await run(...program)).toEqual([expect.stringContaining('says nowhere what it prints')])
  expect(await run(...block('ts run', "throw new Error('no')"), ...block('text', ''))).toEqual([
    expect.stringContaining('failed:'),
  ])
})

test('an example without a page, or whose page does not say how to run it, is reported', () => {
  const example = (text: string) => [
    { path: 'examples/01-tea/main.ts', text: '' },
    { path: 'examples/01-tea/README.md', text },
  ]
  expect(findExamplesWithoutPage(example('npm run example 01'))).toEqual([])
  expect(findExamplesWithoutPage(example('node main.ts'))).toEqual([expect.stringContaining('npm run example 01')])
  expect(findExamplesWithoutPage(example('').slice(0, 1))).toEqual(['examples/01-tea has no README.md'])
})

test('the errors page is stale when the catalogue has moved on', () => {
  const catalog = { TOO_LATE: { title: 'The message came too late', fix: 'Raise retentionMs.' } }
  expect(findStaleErrorsPage(catalog, renderErrorsPage(catalog))).toEqual([])
  expect(findStaleErrorsPage(catalog, renderErrorsPage({}))).toEqual([expect.stringContaining('is stale')])
  expect(findStaleErrorsPage(catalog, undefined)).toEqual([expect.stringContaining('is missing')])
})

test('the errors page shows names as they are written', () => {
  const catalog = { UNSAFE: { title: 'The body has a __proto__ property', fix: 'Remove it.' } }
  expect(renderErrorsPage(catalog)).toContain('a \\_\\_proto\\_\\_ property.')
})

test('a file or a name of a walk that the sources no longer have is reported', () => {
  const sources = [
    { path: 'src/consumer/consumer.ts', text: 'class Consumer {\n  #work() {}\n}' },
    { path: 'src/engine/claim.ts', text: 'export function claimRuns() {}' },
  ]
  const walk = (...lines: string[]) =>
    findStaleNames(['## Three walks', ...lines, '## Layers', '`Gone`'].join('\n'), sources)
  expect(
    walk('`Consumer.#work` (`consumer/consumer.ts`) calls `claimRuns` (`claim.ts`); see `npm run check`.'),
  ).toEqual([])
  expect(walk('`claimRuns`')).toEqual([])
  expect(walk('`claimAll`')).toEqual([expect.stringContaining('claimAll')])
  expect(walk('`work`')).toEqual([expect.stringContaining('work')])
  expect(walk('`claimRuns` (`consumer.ts`)')).toEqual([expect.stringContaining('not in consumer.ts')])
  expect(walk('`claims.ts`')).toEqual([expect.stringContaining('no such file')])
})

test('a link to a file, a folder or a heading that is not there is reported', () => {
  const other = { path: 'docs/guides/other.md', text: '# Other\n\n## Is it *well*?' }
  const find = (...lines: string[]) =>
    findDeadLinks([page(...lines), other], ['docs/start.md', 'docs/guides/other.md', 'src/one.ts'])
  const good = '[a](guides/other.md#is-it-well) [b](../src/one.ts) [c](guides) [d](#title) [e](https://example.org/x)'
  expect(find('# Title', good, ...block('ts', '[f](gone.md)'))).toEqual([])
  expect(find('[a](gone.md)')).toEqual([expect.stringContaining('docs/gone.md')])
  expect(find('[a](guides/other.md#is-it-ill)')).toEqual([expect.stringContaining('#is-it-ill')])
  expect(find('[a](#titel)', '# Title')).toEqual([expect.stringContaining('#titel')])
})

test('a guarantee without a test, and tests of guarantees that are not there, are reported', () => {
  const sources = [
    { path: 'src/testing/claim.ts', text: "name: 'claim: the first one'" },
    { path: 'test/simulator/museum/one.ts', text: "name: 'mark-then-run'" },
  ]
  const find = (test: string) =>
    findMissingTests(`| invariant | the test that fails |\n|---|---|\n| Once | ${test} |`, sources)
  expect(find('[`claim:` cases](../../src/testing/claim.ts), exhibit `mark-then-run`')).toEqual([])
  expect(find('[`record:` cases](../../src/testing/claim.ts)')).toEqual([expect.stringContaining("'record: …'")])
  expect(find('[`claim:`](../../src/testing/gone.ts)')).toEqual([expect.stringContaining('gone.ts has no case')])
  expect(find('[races](races.ts), exhibits `mark-then-run` and `run-then-mark`')).toEqual([
    expect.stringContaining('run-then-mark'),
  ])
  expect(find('we have tried it')).toEqual([expect.stringContaining('no test is named for: Once')])
})
