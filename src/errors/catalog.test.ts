import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { catalog } from './catalog.ts'

test('every code of every part is in the catalogue, and in one part only', async () => {
  const parts = readdirSync(import.meta.dirname).filter((file) => file.endsWith('-catalog.ts'))
  const codes = (await Promise.all(parts.map((part) => import(`./${part}`)))).flatMap((exported) =>
    Object.values(exported as Record<string, object>).flatMap((each) => Object.keys(each)),
  )
  expect(codes.toSorted()).toEqual(Object.keys(catalog).toSorted())
})
