import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AmqpMessage } from './client-shapes.ts'
import { type Answer, OpenTags } from './open-tags.ts'

const message = (deliveryTag: number): AmqpMessage => ({
  content: new Uint8Array(),
  fields: { deliveryTag, redelivered: false, exchange: '', routingKey: '' },
  properties: {},
})

const told = (receipts: readonly Answer[]) =>
  receipts.map(({ message: { fields }, allUpTo }) => `${fields.deliveryTag}${allUpTo ? ' and before' : ''}`)

function opened(count: number) {
  const messages = Array.from({ length: count }, (_, index) => message(index + 1))
  const open = new OpenTags()
  for (const each of messages) open.add(each)
  const of = (tags: readonly number[]) => tags.map((tag) => messages[tag - 1] as AmqpMessage)
  return {
    open,
    done: (...tags: number[]) => told(open.done(of(tags))),
    giveBack: (...tags: number[]) => told(open.giveBack(of(tags))),
    rest: () => told(open.rest()),
  }
}

test('one receipt stands for all from the first on', () => {
  expect(opened(3).done(1, 2, 3)).toEqual(['3 and before'])
})

test('what has something unsettled before it waits for that, and goes with it', () => {
  const { done, rest } = opened(5)
  expect(done(5, 2, 4)).toEqual([])
  expect(done(1)).toEqual(['2 and before'])
  expect(done(3)).toEqual(['5 and before'])
  expect(rest()).toEqual([])
})

test('what has waited for too long is answered by itself', () => {
  const { done, rest, open } = opened(5)
  done(5, 2)
  expect(open.untold).toBe(2)
  expect(rest()).toEqual(['5', '2'])
  expect(done(1)).toEqual(['1'])
  expect(done(3, 4)).toEqual(['4 and before'])
})

test('what goes back takes nothing with it', () => {
  const { done, giveBack, rest } = opened(4)
  done(2)
  expect(giveBack(1, 3)).toEqual(['1', '3'])
  expect(rest()).toEqual(['2'])
  expect(done(4)).toEqual(['4'])
})

test('nothing is settled twice', () => {
  const { done, giveBack } = opened(2)
  expect(done(1)).toEqual(['1'])
  expect(done(1)).toEqual([])
  expect(giveBack(1)).toEqual([])
  expect(done(1, 2)).toEqual(['2'])
})

test('in whatever order and groups, the broker forgets what was done, in the end all of it, and nothing else', () => {
  const tags = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 })
  const step = fc.record({ kind: fc.constantFrom('done', 'giveBack', 'rest'), tags })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const { open } = opened(30)
      const atBroker = new Set(Array.from({ length: 30 }, (_, index) => index + 1))
      const [done, back] = [new Set<number>(), new Set<number>()]
      const tell = (receipts: readonly Answer[]): void => {
        for (const { message: last, allUpTo } of receipts) {
          // The broker closes the channel when it gets an answer for what it does not know.
          expect(atBroker.has(last.fields.deliveryTag)).toBe(true)
          for (const tag of [...atBroker]) {
            if (tag === last.fields.deliveryTag || (allUpTo && tag < last.fields.deliveryTag)) atBroker.delete(tag)
          }
        }
      }
      for (const { kind, tags: given } of [...steps, { kind: 'rest', tags: [] }]) {
        const fresh = given.filter((tag) => !done.has(tag) && !back.has(tag))
        if (kind === 'rest') tell(open.rest())
        else if (kind === 'done') {
          for (const tag of fresh) done.add(tag)
          tell(open.done(given.map(message)))
        } else {
          for (const tag of fresh) back.add(tag)
          tell(open.giveBack(given.map(message)))
        }
        for (const tag of Array.from({ length: 30 }, (_, index) => index + 1)) {
          if (!done.has(tag)) expect(atBroker.has(tag)).toBe(!back.has(tag))
        }
      }
      expect(atBroker.size).toBe(30 - done.size - back.size)
      expect(open.open).toBe(atBroker.size)
    }),
  )
})
