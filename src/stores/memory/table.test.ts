import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Table } from './table.ts'

type Step =
  | { readonly kind: 'set'; readonly key: string; readonly value: number }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'push' }
  | { readonly kind: 'keep' | 'undo'; readonly layers: number }

const key = fc.constantFrom('a', 'b', 'c')
const layers = fc.integer({ min: 1, max: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key, value: fc.nat() }),
  fc.record({ kind: fc.constant('delete' as const), key }),
  fc.record({ kind: fc.constant('push' as const) }),
  fc.record({ kind: fc.constantFrom('keep' as const, 'undo' as const), layers }),
)

/** The same by copying everything at every layer. */
class CopyingTable {
  rows = new Map<string, number>()
  readonly copies: Map<string, number>[] = []
}

const sorted = (entries: Iterable<[string, number]>) => [...entries].sort()

it('whatever is set, deleted, kept and undone, it equals a table that copies itself', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new Table<number>()
      const model = new CopyingTable()
      const push = () => {
        table.push()
        model.copies.push(new Map(model.rows))
      }
      push()
      for (const each of steps) {
        if (each.kind === 'set') {
          table.set(each.key, each.value)
          model.rows.set(each.key, each.value)
        } else if (each.kind === 'delete') {
          expect(table.delete(each.key)).toBe(model.rows.delete(each.key))
        } else if (each.kind === 'push') push()
        else {
          const depth = Math.max(0, table.depth - each.layers)
          const copies = model.copies.splice(depth)
          if (each.kind === 'keep') table.keepTo(depth)
          else {
            table.undoTo(depth)
            model.rows = copies[0] ?? model.rows
          }
          if (depth === 0) push()
        }
        expect(sorted(table.entries())).toEqual(sorted(model.rows))
        expect(sorted(table.committedEntries())).toEqual(sorted(model.copies[0] ?? model.rows))
      }
    }),
  )
})

it('outside a transaction nothing is changed', () => {
  const table = new Table<number>()
  expect(() => table.set('a', 1)).toThrow(/inside a transaction/)
  expect(table.get('a')).toBeUndefined()
})
