import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { gatherWrites } from './gather-writes.ts'

function recording() {
  const writes: string[] = []
  const note = (text: string, done: () => void): void => {
    writes.push(text)
    done()
  }
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _, done) => note(chunk, done),
    writev: (chunks, done) => note(chunks.map(({ chunk }) => chunk as string).join(''), done),
  })
  return { writes, stream, client: { connection: { stream } } }
}

test('what is written in one turn travels in one write, in order', async () => {
  const { writes, stream, client } = recording()
  const send = async (text: string): Promise<void> => {
    gatherWrites(client)
    stream.write(text)
    await undefined
    gatherWrites(client)
    stream.write(text.toUpperCase())
  }
  await Promise.all([send('a'), send('b')])
  await new Promise(setImmediate)
  expect(writes).toEqual(['abAB'])
})

test('what is written later is held back by nobody', async () => {
  const { writes, stream, client } = recording()
  gatherWrites(client)
  stream.write('a')
  await new Promise(setImmediate)
  stream.write('b')
  expect(writes).toEqual(['a', 'b'])
})

test('a client whose stream cannot gather writes as usual', () => {
  expect(() => gatherWrites({})).not.toThrow()
  expect(() => gatherWrites({ connection: { stream: {} } })).not.toThrow()
})
