import { expect, test } from 'vitest'
import { addErrorNote, readErrorNotes } from './error-notes.ts'

const at = new Date('2030-01-01T00:00:00Z')

test('the history grows by one note, oldest first', () => {
  const one = addErrorNote('', new Error('first'), at)
  const two = addErrorNote(one, 'second', new Date('2030-01-02T00:00:00Z'))
  const notes = readErrorNotes(two)
  expect(notes.map((note) => note.at)).toEqual(['2030-01-01T00:00:00.000Z', '2030-01-02T00:00:00.000Z'])
  expect(notes[0]?.message).toContain('Error: first')
  expect(notes[1]?.message).toBe('second')
})

test('no note yet, however that is written', () => {
  expect(readErrorNotes('')).toEqual([])
  expect(readErrorNotes('[]')).toEqual([])
})

test('twenty are kept; the oldest fall out', () => {
  let history = ''
  for (let i = 1; i <= 25; i++) history = addErrorNote(history, `error ${i}`, at)
  const messages = readErrorNotes(history).map(({ message }) => message)
  expect(messages).toHaveLength(20)
  expect([messages[0], messages.at(-1)]).toEqual(['error 6', 'error 25'])
})

test('a note is cleaned and cut', () => {
  const [note] = readErrorNotes(addErrorNote('', `a\0b\ud800${'x'.repeat(10_000)}`, at))
  expect(note?.message).toHaveLength(4_000)
  expect(note?.message.startsWith('a␀b\ufffdxxx')).toBe(true)
})

test('causes are noted, as far as they lead anywhere', () => {
  const [note] = readErrorNotes(
    addErrorNote('', new Error('outer', { cause: new Error('inner', { cause: 'root' }) }), at),
  )
  expect(note?.message).toMatch(/Error: outer[\s\S]*caused by: Error: inner[\s\S]*caused by: root$/)
})

const circular = new Error('round')
circular.cause = circular
const oddStack = Object.assign(new Error('odd'), { stack: ['not', 'text'] })
const hostile = {
  get toString() {
    throw new Error('no')
  },
  [Symbol.toPrimitive]() {
    throw new Error('no')
  },
}

test.each([
  ['an error that causes itself', circular, /Error: round/],
  ['an error whose stack is not text', oddStack, /not,text/],
  ['nothing', undefined, /^undefined$/],
  ['null', null, /^null$/],
  ['a symbol', Symbol('s'), /^Symbol\(s\)$/],
  ['an object', { code: 7 }, /code: 7/],
  ['an object without a prototype', Object.create(null), /Object: null prototype/],
  ['an object that cannot be turned into text', hostile, /./],
])('whatever is thrown can be noted: %s', (_, thrown, expected) => {
  expect(readErrorNotes(addErrorNote('', thrown, at))[0]?.message).toMatch(expected)
})
