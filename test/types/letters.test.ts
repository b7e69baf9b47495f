import { expectTypeOf, test } from 'vitest'
import { type DeadLetters, justonce, type LetterSelection } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'

/** Only looked at by the compiler: nothing in here is run. */
const typesOnly = (_: () => unknown): void => {}

test('an app has dead letters, whatever its store and messages', () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore() })
    expectTypeOf(app.deadLetters).toEqualTypeOf<DeadLetters>()
    expectTypeOf(app.forget).returns.resolves.toEqualTypeOf<boolean>()
  })
})

test('a selection is one, many, a filter or all; nothing is done by nobody', () => {
  expectTypeOf<{ handler: string; key: string }>().toExtend<LetterSelection>()
  expectTypeOf<readonly { handler: string; key: string }[]>().toExtend<LetterSelection>()
  expectTypeOf<{ type: string; since: Date }>().toExtend<LetterSelection>()
  expectTypeOf<'all'>().toExtend<LetterSelection>()
  expectTypeOf<'everything'>().not.toExtend<LetterSelection>()
  typesOnly(() => {
    const { deadLetters } = justonce({ store: memoryStore() })
    // @ts-expect-error by is missing
    deadLetters.discard('all', {})
    // @ts-expect-error there is no such field
    deadLetters.list({ handlr: 'a' })
  })
})
