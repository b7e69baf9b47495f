import { expectTypeOf, test } from 'vitest'
import { justonce, type LetterSelection, type Operations, operations } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'

/** Only looked at by the compiler: nothing in here is run. */
const typesOnly = (_: () => unknown): void => {}

test('a store alone has the operations of an app', () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore() })
    expectTypeOf(app.operations).toEqualTypeOf<Operations>()
    expectTypeOf(operations(memoryStore())).toEqualTypeOf<Operations>()
  })
})

test('a selection is one, many, a filter or all; nothing is done by nobody', () => {
  expectTypeOf<{ handler: string; key: string }>().toExtend<LetterSelection>()
  expectTypeOf<readonly { handler: string; key: string }[]>().toExtend<LetterSelection>()
  expectTypeOf<{ type: string; since: Date }>().toExtend<LetterSelection>()
  expectTypeOf<'all'>().toExtend<LetterSelection>()
  expectTypeOf<'everything'>().not.toExtend<LetterSelection>()
  typesOnly(() => {
    const { letters } = operations(memoryStore())
    // @ts-expect-error by is missing
    letters.discard('all', {})
    // @ts-expect-error there is no such field
    letters.list({ handlr: 'a' })
  })
})
