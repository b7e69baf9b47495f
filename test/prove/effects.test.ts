import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type EffectOptions, httpEffect } from '../../src/index.ts'
import { proveEffect } from '../../src/testing/prove-effect/index.ts'

/** A provider in this process, which honours keys or not. */
function openProvider(honoursKeys: boolean) {
  const done: string[] = []
  return {
    done,
    do(key: string): void {
      if (!honoursKeys || !done.includes(key)) done.push(key)
    },
    about: { payload: { to: 'ada' }, happened: () => done.length, reset: () => void done.splice(0) },
  }
}

const broken = (proof: Awaited<ReturnType<typeof proveEffect>>) =>
  proof.rows.filter(({ holds }) => !holds).map(({ fault, happened, ended }) => ({ fault, happened, ended }))

test('a keyed effect whose provider honours keys happens once under every fault', async () => {
  const provider = openProvider(true)
  const proof = await proveEffect(
    { keyed: true, run: (_, { idempotencyKey }) => provider.do(idempotencyKey) },
    provider.about,
  )
  expect(proof).toMatchObject({ holds: true, promise: 'once' })
  expect(proof.rows.map(({ ended }) => ended)).toEqual(proof.rows.map(() => 'done'))
})

test('a provider that ignores keys is detected', async () => {
  const provider = openProvider(false)
  const proof = await proveEffect(
    { keyed: true, run: (_, { idempotencyKey }) => provider.do(idempotencyKey) },
    provider.about,
  )
  expect(proof.holds).toBe(false)
  expect(broken(proof).map(({ fault }) => fault)).toEqual([
    'killed-after-the-call',
    'answer-lost',
    'answer-late',
    'frozen-before-the-call',
  ])
  expect(proof.text).toContain('✗ answer-lost              happened 2 times')
})

const probed = (provider: ReturnType<typeof openProvider>): EffectOptions => ({
  run: (_, { idempotencyKey, assertInTime }) => {
    assertInTime()
    provider.do(idempotencyKey)
  },
  probe: (_, { idempotencyKey }) => ({
    status: provider.done.includes(idempotencyKey) ? 'happened' : 'did-not-happen',
  }),
})

test('a probed effect happens once under every fault', async () => {
  const provider = openProvider(false)
  expect(broken(await proveEffect(probed(provider), provider.about))).toEqual([])
})

test('a probe that never finds anything is detected, and so is a call that does not look at the time', async () => {
  const provider = openProvider(false)
  const blind = await proveEffect({ ...probed(provider), probe: () => ({ status: 'did-not-happen' }) }, provider.about)
  expect(broken(blind).map(({ fault }) => fault)).toEqual(['killed-after-the-call', 'answer-lost'])
  const late = await proveEffect(
    { ...probed(provider), run: (_, { idempotencyKey }) => provider.do(idempotencyKey) },
    provider.about,
  )
  expect(broken(late)).toEqual([{ fault: 'frozen-before-the-call', happened: 2, ended: 'done' }])
  expect(late.text).toContain('assertInTime()')
})

test('a bare effect happens at most once, and a person is asked where nobody knows', async () => {
  const provider = openProvider(false)
  const proof = await proveEffect({ run: (_, { idempotencyKey }) => provider.do(idempotencyKey) }, provider.about)
  expect(proof).toMatchObject({ holds: true, promise: 'at most once' })
  expect(Object.fromEntries(proof.rows.map(({ fault, happened, ended }) => [fault, `${happened} ${ended}`]))).toEqual({
    none: '1 done',
    'killed-before-the-call': '0 person',
    'killed-after-the-call': '1 person',
    'call-lost': '0 person',
    'answer-lost': '1 person',
    'answer-late': '1 done',
    'frozen-before-the-call': '1 done',
  })
})

test('an effect that is repeated without a key, and one that is discarded', async () => {
  const provider = openProvider(false)
  const run: EffectOptions['run'] = (_, { idempotencyKey }) => provider.do(idempotencyKey)
  expect(await proveEffect({ run, unknown: 'repeat' }, provider.about)).toMatchObject({
    holds: true,
    promise: 'at least once',
  })
  expect(await proveEffect({ run, unknown: 'discard' }, provider.about)).toMatchObject({ holds: true })
})

test('calls over HTTP, with a time limit that real time would exceed in the course of the proof', async () => {
  const provider = openProvider(true)
  const server = createServer((request, response) => {
    provider.do(String(request.headers['idempotency-key']))
    setTimeout(() => response.end('{}'), 20)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const keyed = await proveEffect(httpEffect({ url, keyed: true, timeoutMs: 1_000 }), provider.about)
  expect(keyed.text).not.toContain('✗')
  const bare = await proveEffect(httpEffect({ url, timeoutMs: 1_000 }), provider.about)
  expect(bare).toMatchObject({ holds: true, promise: 'at most once' })
})
