import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandLinePage } from '../../tools/command-line-page.ts'

test('the page of commands says what the commands say; npm run command-line-page writes it', () => {
  const page = readFileSync(new URL('../../docs/reference/command-line.md', import.meta.url), 'utf8')
  expect(page).toBe(commandLinePage())
})
