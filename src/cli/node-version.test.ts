import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { whyNotThisNode } from './node-version.ts'

test('an older Node is named, and what is needed', () => {
  expect(whyNotThisNode('20.20.2')).toBe('justonce needs Node 22.18 or later, and this is 20.20.2.')
  expect(whyNotThisNode('22.17.9')).toContain('22.17.9')
  for (const fits of ['22.18.0', '22.20.1', '24.0.0', '26.1.0']) expect(whyNotThisNode(fits)).toBeUndefined()
})

test('it is the one that package.json asks for', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(whyNotThisNode('1.0.0')).toContain(engines.node.replace('>=', 'Node '))
})
