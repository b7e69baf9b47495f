import { beforeAll, describe, expect, test } from 'vitest'
import { prove } from '../../src/testing/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { postgresExhibits } from './museum/postgres.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('broken handlers on Postgres', () => {
  let url = ''
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })

  test.each(postgresExhibits)('$title: $expected', async ({ options, expected }) => {
    const proof = await prove(options(url))
    const name = proof.failures.filter(({ isAllowed }) => !isAllowed).map((failure) => failure.name)
    expect(name, proof.report).toEqual([expected])
    expect(proof.ok).toBe(false)
  })
})
