import { expect, test } from 'vitest'
import type { MessageToQueue } from '../../contracts/index.ts'
import { gatheredSends } from './gathered-sends.ts'

const toQueue = (text: string, bytes = 1): MessageToQueue => ({
  key: text,
  message: { envelope: new Uint8Array(), body: new Uint8Array(bytes) },
})

/** Each send waits until the test ends it. */
function opened() {
  const sends: { readonly texts: readonly (string | undefined)[]; end(error?: Error): void }[] = []
  const lost = new Error('connection lost')
  const send = gatheredSends(
    (messages) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve() : reject(error))
        sends.push({ texts: messages.map(({ key }) => key), end })
      }),
    (error) => error === lost,
  )
  const call = (...texts: string[]) =>
    send(texts.map((text) => toQueue(text))).then(
      () => 'sent',
      (error: Error) => error.message,
    )
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return { sends, send, call, lost, settled, textsOf: () => sends.map(({ texts }) => texts) }
}

test('a few callers are sent at once, each alone; who comes while they are sent is gathered, in order', async () => {
  const { sends, call, settled, textsOf } = opened()
  const calls = ['a', 'b', 'c', 'd', 'e', 'f'].map((text) => call(text))
  calls.push(call('g', 'h'))
  expect(textsOf()).toEqual([['a'], ['b'], ['c'], ['d']])
  sends[1]?.end()
  await settled()
  expect(textsOf().slice(4)).toEqual([['e', 'f', 'g', 'h']])
  for (const { end } of sends) end()
  expect(await Promise.all(calls)).toEqual(calls.map(() => 'sent'))
})

test('what one caller has wrong is reported to that caller alone, and the others are sent', async () => {
  const { sends, call, settled, textsOf } = opened()
  const first = ['a', 'b', 'c', 'd'].map((text) => call(text))
  const gathered = ['e', 'wrong', 'f'].map((text) => call(text))
  for (const { end } of sends) end()
  await settled()
  for (const text of ['all', 'e', 'wrong', 'f']) {
    sends.at(-1)?.end(['all', 'wrong'].includes(text) ? new Error('too large') : undefined)
    await settled()
  }
  expect(textsOf().slice(4)).toEqual([['e', 'wrong', 'f'], ['e'], ['wrong'], ['f']])
  expect(await Promise.all([...first, ...gathered])).toEqual([...first.map(() => 'sent'), 'sent', 'too large', 'sent'])
})

test('if nobody knows whether they were stored, all get the error, and none is sent again', async () => {
  const { sends, call, settled, textsOf, lost } = opened()
  const first = ['a', 'b', 'c', 'd'].map((text) => call(text))
  const gathered = ['e', 'f'].map((text) => call(text))
  for (const { end } of sends) end()
  await settled()
  sends.at(-1)?.end(lost)
  expect(await Promise.all(gathered)).toEqual(['connection lost', 'connection lost'])
  expect(textsOf()).toHaveLength(5)
  await Promise.all(first)
})

test('no more is gathered than fits one statement', async () => {
  const { sends, send, settled } = opened()
  const many = (count: number, bytes?: number) => send(Array.from({ length: count }, () => toQueue('m', bytes)))
  const calls = [many(1), many(1), many(1), many(1), many(300), many(200), many(1), many(700), many(1, 5_000_000)]
  for (let turn = 0; turn < 8; turn++) {
    for (const { end } of sends) end()
    await settled()
  }
  await Promise.all(calls)
  expect(sends.map(({ texts }) => texts.length)).toEqual([1, 1, 1, 1, 500, 1, 700, 1])
})
