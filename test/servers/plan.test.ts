import { describe, expect, test } from 'vitest'
import { planFor, reasonToSkip, type ServerFacts } from './plan.ts'

const nothing: ServerFacts = { name: 'redis', packages: ['redis-server'], isInstalled: false, canInstall: false }
const url = 'redis://localhost:6379'

describe('where a server comes from', () => {
  test('installed binaries are started, even when a URL is given', () => {
    expect(planFor({ ...nothing, isInstalled: true, givenUrl: url })).toEqual({ kind: 'start' })
  })

  test('root installs what is missing', () => {
    expect(planFor({ ...nothing, canInstall: true, givenUrl: url })).toEqual({ kind: 'install' })
  })

  test('a failed installation is not tried again: the URL comes next', () => {
    const facts = { ...nothing, canInstall: true, installFailure: 'no network' }
    expect(planFor({ ...facts, givenUrl: url })).toEqual({ kind: 'use-url', url })
    expect(planFor(facts)).toMatchObject({ kind: 'skip', reason: expect.stringContaining('tried: no network') })
  })

  test('an ordinary user without binaries uses the URL', () => {
    expect(planFor({ ...nothing, givenUrl: url })).toEqual({ kind: 'use-url', url })
  })

  test('otherwise it is skipped, and the reason names the packages and the variable', () => {
    expect(planFor(nothing)).toEqual({
      kind: 'skip',
      reason:
        'redis is not installed. Run: apt-get install redis-server, ' +
        'or set JUSTONCE_TEST_REDIS_URL to a running server.',
    })
  })

  test('a URL is no help to tests that kill their server', () => {
    const plan = planFor({ ...nothing, givenUrl: url, mustBeOwn: true })
    expect(plan).toMatchObject({ kind: 'skip', reason: expect.stringContaining('kill and restart their own server') })
  })
})

describe('a skip', () => {
  test('is allowed by default', () => {
    expect(reasonToSkip('redis is not installed.', {})).toBe('redis is not installed.')
    expect(reasonToSkip('redis is not installed.', { JUSTONCE_REQUIRE_ALL: '0' })).toBe('redis is not installed.')
  })

  test('is a failure with JUSTONCE_REQUIRE_ALL=1', () => {
    expect(() => reasonToSkip('redis is not installed.', { JUSTONCE_REQUIRE_ALL: '1' })).toThrow(
      'JUSTONCE_REQUIRE_ALL=1 allows no skip, but redis is not installed.',
    )
  })
})
