import { expect, test } from 'vitest'
import { optionsIn } from '../../tools/option-interfaces.ts'

const source = `
export interface Options<Tx> extends Base {
  /** How many. Default: 1. */
  readonly count?: number | undefined
  /**
   * Either
   * - \`a\`: the first,
   * - \`b\`: the second.
   */
  readonly kind: 'a' | 'b'
  readonly silent?: {
    readonly inner: string
  }
}
`

test('an option is described by the comment above it', () => {
  expect(optionsIn(source, 'Options')).toEqual([
    { name: 'count', required: false, type: 'number', text: 'How many. Default: 1.' },
    { name: 'kind', required: true, type: "'a' | 'b'", text: 'Either `a`: the first, `b`: the second.' },
    { name: 'silent', required: false, type: '{ inner: string }', text: undefined },
  ])
})

test('an interface that is not there is an error', () => {
  expect(() => optionsIn(source, 'Opt')).toThrow('no interface Opt')
})
