import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { catalog, type ErrorCode } from './catalog.ts'
import { isJustonceError, JustonceError } from './justonce-error.ts'
import { isPermanentError, PermanentError } from './permanent-error.ts'

test('the message says what happened and what to do', () => {
  const cause = new Error('why')
  const error = new JustonceError('POOL_TOO_SMALL', { message: 'The pool has 1.', cause, details: { connections: 1 } })
  expect(error.message).toBe(`The pool has 1. ${catalog.POOL_TOO_SMALL.fix}`)
  expect(error).toMatchObject({ name: 'JustonceError', code: 'POOL_TOO_SMALL', cause, details: { connections: 1 } })
  expect(error).toBeInstanceOf(Error)
})

test('it names the page that explains it, which has a section with that name', () => {
  for (const code of Object.keys(catalog) as ErrorCode[]) {
    const [path, section] = new JustonceError(code, { message: 'x' }).page.split('#') as [string, string]
    const headings = [...readFileSync(path, 'utf8').matchAll(/^## (.*)$/gm)].map(([, title]) => title?.toLowerCase())
    expect(headings).toContain(section)
  }
})

test('JSON keeps what it says', () => {
  const error = new JustonceError('POOL_TOO_SMALL', {
    message: 'x',
    cause: new Error('why'),
    details: { connections: 1 },
  })
  const { name, code, message, page } = error
  const json = JSON.parse(JSON.stringify({ error })) as unknown
  expect(json).toEqual({ error: { name, code, message, page, details: { connections: 1 }, cause: 'Error: why' } })
})

test('without a cause there is none', () => {
  expect('cause' in new JustonceError('POOL_TOO_SMALL', { message: 'x' })).toBe(false)
})

test('it is recognised by its code, also when it comes from another copy of this module', async () => {
  vi.resetModules()
  const other = await import('./justonce-error.ts')
  const foreign = new other.JustonceError('STORE_FULL', { message: 'x' })
  expect(foreign).not.toBeInstanceOf(JustonceError)
  expect(isJustonceError(foreign)).toBe(true)
  expect(isJustonceError(foreign, 'STORE_FULL')).toBe(true)
  expect(isJustonceError(foreign, 'STORE_BUSY')).toBe(false)
})

test.each([undefined, null, 'STORE_FULL', new Error('x'), { code: 'STORE_FULL' }])('%s is not one', (value) => {
  expect(isJustonceError(value)).toBe(false)
  expect(isPermanentError(value)).toBe(false)
})

test('a PermanentError is recognised likewise', async () => {
  vi.resetModules()
  const other = await import('./permanent-error.ts')
  expect(isPermanentError(new other.PermanentError('x'))).toBe(true)
  expect(isPermanentError(new PermanentError('x', { cause: 1 }))).toBe(true)
  expect(new PermanentError('x', { cause: 1 }).cause).toBe(1)
})

test('every code has a title without a full stop and a fix with one', () => {
  for (const code of Object.keys(catalog) as ErrorCode[]) {
    expect(catalog[code].title, code).toMatch(/^[A-Z].*[^.]$/)
    expect(catalog[code].fix, code).toMatch(/^[A-Z].*\.$/)
  }
})
