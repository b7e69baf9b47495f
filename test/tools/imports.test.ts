import { expect, test } from 'vitest'
import { scanImports } from '../../tools/imports.ts'

const specifiers = (source: string) => scanImports(source).map(({ specifier }) => specifier)

test('finds every way to name a module', () => {
  const source = `
    import './side-effect.ts'
    import a, { type B } from "./default.ts"
    import type {
      C,
    } from './type.ts'
    export * from './star.ts'
    export type { D } from './type-export.ts'
    const lazy = () => import('./dynamic.ts')
    const plain = import(\`./template.ts\`)
    type E = import('./inline-type.ts').E
    const f = require('./required.cjs')
  `
  expect(specifiers(source)).toEqual([
    './side-effect.ts',
    './default.ts',
    './type.ts',
    './star.ts',
    './type-export.ts',
    './dynamic.ts',
    './template.ts',
    './inline-type.ts',
    './required.cjs',
  ])
})

test('reads past comments, strings, templates and regular expressions', () => {
  const source = `
    // import './comment.ts'
    /* import './block.ts' */
    const text = "import './string.ts'"
    const sql = \`select * from 'template.ts' \${nest(\`from 'inner.ts'\`, { a: 1 })} from 'tail.ts'\`
    const quote = /['"\`/]/.test(text)
    const ratio = total / 2 / (text.length / 3)
    const list = Array.from('letters')
    import { real } from './real.ts'
  `
  expect(specifiers(source)).toEqual(['./real.ts'])
})

test('finds an import inside a template substitution', () => {
  expect(specifiers(`const t = \`\${(await import("./inner.ts")).name}\``)).toEqual(['./inner.ts'])
})

test('knows the line', () => {
  expect(scanImports("const a = `\n\n`\nimport './x.ts'")).toEqual([{ specifier: './x.ts', line: 4 }])
})
