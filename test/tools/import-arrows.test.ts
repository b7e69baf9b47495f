import { expect, test } from 'vitest'
import { findForbiddenImports } from '../../tools/checks/import-arrows.ts'

const problemsOf = (path: string, specifier: string) =>
  findForbiddenImports([{ path, text: `import type { X } from '${specifier}'` }])

test.each([
  ['src/contracts/store.ts', './message.ts'],
  ['src/errors/catalog.ts', '../contracts/index.ts'],
  ['src/engine/batch/claim.ts', '../../ids/index.ts'],
  ['src/consumer/chains.ts', '../engine/batch/claim.ts'],
  ['src/stores/sqlite/inbox.ts', '../sql/columns.ts'],
  ['src/stores/postgres/migrations/0001-inbox.ts', '../client.ts'],
  ['src/testing/store-cases.ts', '../stores/memory/index.ts'],
  ['src/app/app.ts', '../consumer/consumer.ts'],
  ['src/memory.ts', './stores/memory/index.ts'],
])('%s may import %s', (path, specifier) => {
  expect(problemsOf(path, specifier)).toEqual([])
})

test.each([
  ['src/contracts/store.ts', '../errors/index.ts'],
  ['src/errors/catalog.ts', '../ids/index.ts'],
  ['src/engine/batch/claim.ts', '../../consumer/chains.ts'],
  ['src/engine/batch/claim.ts', '../../index.ts'],
  ['src/outgoing/relay.ts', '../engine/batch/claim.ts'],
  ['src/stores/sqlite/inbox.ts', '../postgres/client.ts'],
  ['src/stores/sql/columns.ts', '../sqlite/inbox.ts'],
  ['src/transports/queue/index.ts', '../memory/index.ts'],
  ['src/transports/queue/index.ts', '../../stores/sql/columns.ts'],
  ['src/testing/store-cases.ts', '../cli/main.ts'],
  ['src/app/app.ts', '../../test/servers/start.ts'],
  ['src/index.ts', '../tools/run.ts'],
])('%s must not import %s', (path, specifier) => {
  expect(problemsOf(path, specifier)).toEqual([expect.stringContaining(`${path}:1 `)])
})

test('a folder without a layer is a problem of its own', () => {
  expect(problemsOf('src/helpers/x.ts', './y.ts')).toEqual([expect.stringContaining('belongs to no layer')])
})

test('a new layer is one line in the table', () => {
  const files = [{ path: 'src/new/x.ts', text: "import '../contracts/index.ts'" }]
  const table = [
    { folder: 'contracts', mayImport: [] },
    { folder: 'new', mayImport: ['contracts'] },
  ]
  expect(findForbiddenImports(files, table)).toEqual([])
})
