import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { keepFilesInMemory } from './memory-disk.ts'

test('somebody who has decided where files are is asked first', () => {
  const env = { TMPDIR: '/elsewhere' }
  keepFilesInMemory(env, tmpdir())
  expect(env.TMPDIR).toBe('/elsewhere')
})

test('without such a place, files are where they are anyway', () => {
  const env: NodeJS.ProcessEnv = {}
  keepFilesInMemory(env, '/there/is/no/such/folder')
  expect(env.TMPDIR).toBeUndefined()
})

test('without room, files are where they are anyway', () => {
  const env: NodeJS.ProcessEnv = {}
  keepFilesInMemory(env, '/proc')
  expect(env.TMPDIR).toBeUndefined()
})
