import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { ProofJson } from '../../src/testing/index.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

function justonce(...args: readonly string[]): Promise<Ended> {
  const file = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], { cwd: root }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

const fixture = (name: string): string => `test/prove/fixtures/${name}.ts`

describe('justonce prove', () => {
  test('prints the report and ends with 0 when everything is proven', async () => {
    const { code, out, err } = await justonce('prove', fixture('good'))
    expect(out).toMatch(/^PROVEN: book-payment\. \d+ runs on sqlite/)
    expect(err).toBe('')
    expect(code).toBe(0)
  })

  test('ends with 1 when something is wrong, and tells what', async () => {
    const { code, out } = await justonce('prove', fixture('several'))
    expect(out).toContain('PROVEN: book-payment')
    expect(out).toContain('The effect depends on random values (reads-randomness)')
    expect(code).toBe(1)
  })

  test('--json prints the proof for machines, and nothing else', async () => {
    const { code, out } = await justonce('prove', fixture('several'), '--json')
    const proofs = JSON.parse(out) as ProofJson[]
    expect(proofs.map(({ ok, failures }) => [ok, failures.map(({ name }) => name)])).toEqual([
      [true, []],
      [false, ['reads-randomness']],
    ])
    expect(code).toBe(1)
  })

  test.each([
    { args: ['prove'], says: 'give exactly one file' },
    { args: ['prove', 'a.ts', '--jason'], says: "Unknown option '--jason'" },
    { args: ['prove', 'nowhere.ts'], says: 'there is no file nowhere.ts' },
    { args: ['prove', fixture('nothing')], says: 'does not export the options of prove() as default' },
    { args: ['prove', fixture('misspelt')], says: 'prove() has no option "mesages". Did you mean messages?' },
    { args: ['prove', fixture('good'), '--postgres', 'a', '--mysql', 'b'], says: 'give either --postgres or --mysql.' },
    { args: ['disprove'], says: "no command 'disprove'" },
  ])('$args: $says', async ({ args, says }) => {
    const { code, out, err } = await justonce(...args)
    expect(err).toContain(says)
    expect(out).toBe('')
    expect(code).toBe(2)
  })

  test('help is no mistake', async () => {
    const overview = await justonce('--help')
    expect([overview.code, overview.err]).toEqual([0, ''])
    expect(overview.out).toContain('prove')
    const help = await justonce('prove', '--help')
    expect([help.code, help.err]).toEqual([0, ''])
    expect(help.out).toContain('--postgres <url>')
    expect(help.out).toContain('--mysql <url>')
  })
})

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('justonce prove --postgres', () => {
  test('runs in a scratch schema, with the client of the project', async () => {
    const url = await createDatabase(postgres.url)
    const { code, out } = await justonce('prove', fixture('on-postgres'), '--postgres', url)
    expect(out).toMatch(/^PROVEN: book-payment\. \d+ runs on postgres/)
    expect(code).toBe(0)
  })
})

const mariadb = await requireServer('mariadb')

describe.skipIf(!mariadb.available)('justonce prove --mysql', () => {
  test('runs in scratch databases, with the client of the project', async () => {
    const url = await createMysqlDatabase(mariadb.url)
    const { code, out } = await justonce('prove', fixture('on-mysql'), '--mysql', url)
    expect(out).toMatch(/^PROVEN: book-payment\. \d+ runs on mysql/)
    expect(code).toBe(0)
  })
})
