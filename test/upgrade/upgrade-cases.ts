import { expect, test } from 'vitest'
import type { Schema, Store } from '../../src/contracts/index.ts'
import { claim, request } from '../../src/testing/sample-records.ts'
import { tenDaysAgo } from './fill-store.ts'
import { newColumn, newTable } from './next-version.ts'

export type Rows = Readonly<Record<string, readonly Record<string, unknown>[]>>

/** A store of this version with rows in every table, and what the next version would do to it. */
export interface Filled<Tx> {
  readonly store: Store<Tx>
  rows(): Promise<Rows>
  /** The same rows without what tells the version. */
  withoutVersion(rows: Rows): Rows
  /** As a later version of this code would have it; with `broken` one that fails after it has begun. */
  next(broken?: 'broken'): Schema
  /** From two processes at the same moment; their exit codes. */
  upgradeTwice(): Promise<readonly (number | null)[]>
}

/** `fails`: what an upgrade that fails in the middle leaves behind, where changes of tables cannot be rolled back. */
export function upgradeCases<Tx>(openFilled: () => Promise<Filled<Tx>>, fails: 'whole' | 'in part'): void {
  test('every table has rows before the upgrade, or it would prove nothing', async () => {
    const { rows } = await openFilled()
    const empty = Object.entries(await rows()).filter(([, of]) => of.length === 0)
    expect(empty.map(([name]) => name).filter((name) => name !== 'justonce_seal')).toEqual([])
  })

  test('two processes upgrade at once: all rows are kept, and the old code refuses the new tables', async () => {
    const { store, rows, withoutVersion, upgradeTwice } = await openFilled()
    const before = await rows()
    expect(await upgradeTwice()).toEqual([0, 0])
    const after = await rows()
    expect(withoutVersion(withoutNews(after))).toEqual(withoutVersion(before))
    expect(after[newTable]).toEqual([{ name: 'made once' }])
    expect(after.justonce_inbox?.map((row) => row[newColumn])).toEqual([7, 7, 7, 7])
    await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
    await expect(store.schema.install()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
  })

  test('a process of the old version that is still running goes on to recognise duplicates', async () => {
    const { store, next } = await openFilled()
    await expect(next().check()).rejects.toMatchObject({ code: 'SCHEMA_OLD' })
    await next().install()
    expect((await store.transaction((tx) => claim(store, tx, 'timeless')))?.result).toBe('{"so":"ß"}')
    const old = { ...request('old'), born: tenDaysAgo }
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [old]))
    expect(existing[0]?.state).toBe('processed')
    expect(await store.transaction((tx) => claim(store, tx, 'new'))).toBeUndefined()
  })

  test('an upgrade that fails in the middle keeps all rows and the old version, and can be run again', async () => {
    const { store, rows, next } = await openFilled()
    const before = await rows()
    await expect(next('broken').install()).rejects.toThrow()
    const after = await rows()
    expect(fails === 'whole' ? after : withoutNews(after)).toEqual(before)
    await store.schema.check()
    expect(await store.transaction((tx) => claim(store, tx, 'meanwhile'))).toBeUndefined()
    await next().install()
    expect((await rows())[newTable]).toEqual([{ name: 'made once' }])
    expect((await store.transaction((tx) => claim(store, tx, 'meanwhile')))?.state).toBe('processed')
  })
}

function withoutNews({ [newTable]: _, ...tables }: Rows): Rows {
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [name, rows.map(({ [newColumn]: _, ...row }) => row)]),
  )
}
