import { expect, test } from 'vitest'
import { findSilentEvents, findStalePages, findUndocumented } from '../../tools/checks/reference.ts'
import { readPackageExports } from '../../tools/package-exports.ts'
import { type PublicModule, readPublicModules } from '../../tools/reference/public-symbols.ts'
import { eventKinds } from '../../tools/reference/render-events.ts'
import { renderReference } from '../../tools/reference/render-reference.ts'

const symbol = (name: string, more: object = {}) => ({
  name,
  isType: true,
  isFunction: false,
  file: `src/${name}.ts`,
  doc: 'What it is.',
  examples: [],
  declaration: `interface ${name} { … }`,
  members: [],
  ...more,
})
const module = (...symbols: ReturnType<typeof symbol>[]): PublicModule[] => [{ name: 'justonce', symbols }]

test('a public name without a comment is reported, and so is an option without one', () => {
  const member = { name: 'waitMs', required: false, type: 'number', doc: '' }
  expect(findUndocumented(module(symbol('Fine')))).toEqual([])
  expect(findUndocumented(module(symbol('Silent', { doc: '' })))).toEqual([expect.stringContaining('Silent')])
  expect(findUndocumented(module(symbol('WaitOptions', { members: [member] })))).toEqual([
    'src/WaitOptions.ts: WaitOptions does not say what waitMs means',
  ])
  expect(findUndocumented(module(symbol('Answer', { members: [member] })))).toEqual([])
})

test('an event is described by the comment above it', () => {
  const declaration = [
    'type JustonceEvent =',
    '  /** It has run. */',
    "  | { readonly kind: 'processed'; readonly key: string }",
    '  | {',
    "      readonly kind: 'parked'",
    '      /** Which attempt. */',
    '      readonly attempt?: number',
    '    }',
  ].join('\n')
  expect(eventKinds(declaration)).toEqual([
    { kind: 'processed', fields: '`key`', text: 'It has run.' },
    { kind: 'parked', fields: '`attempt?`', text: '' },
  ])
  expect(findSilentEvents(module(symbol('JustonceEvent', { declaration })))).toEqual([
    expect.stringContaining('parked'),
  ])
})

test('a page that is not what the types say, and one that nothing leads to any more, are stale', () => {
  const wanted = new Map([['docs/reference/api.md', 'text']])
  expect(findStalePages(wanted, () => 'text', [])).toEqual([])
  expect(findStalePages(wanted, () => undefined, [])).toHaveLength(1)
  expect(findStalePages(wanted, () => 'text', ['docs/reference/api/gone.md'])).toHaveLength(1)
})

test('what readers look for is in the reference', () => {
  const pages = renderReference(readPublicModules(readPackageExports()))
  const index = pages.get('docs/reference/api.md') ?? ''
  for (const name of ['app.onBatch()', 'app.publish()', 'byContent', 'uuidv7', 'once', 'insertOnce', 'prove'])
    expect(index).toContain(`\`${name}\`](`)
  expect(pages.get('docs/reference/api/justonce.md')).toContain('`keepResult?: ')
  expect(pages.get('docs/reference/api/justonce.md')).toMatch(/- `publish<.*tx\?: TxOf<S>/)
  expect(pages.get('docs/reference/events.md')).toContain('| `duplicate` |')
})
