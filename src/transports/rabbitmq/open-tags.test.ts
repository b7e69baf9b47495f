import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AmqpMessage } from './client-shapes.ts'
import { OpenTags } from './open-tags.ts'

const message = (deliveryTag: number): AmqpMessage => ({
  content: new Uint8Array(),
  fields: { deliveryTag, redelivered: false, exchange: '', routingKey: '' },
  properties: {},
})

function opened(count: number) {
  const messages = Array.from({ length: count }, (_, index) => message(index + 1))
  const open = new OpenTags()
  for (const each of messages) open.add(each)
  const settle = (...tags: number[]) =>
    open
      .settle(tags.map((tag) => messages[tag - 1] as AmqpMessage))
      .map(({ message: { fields }, allUpTo }) => `${fields.deliveryTag}${allUpTo ? ' and before' : ''}`)
  return { open, settle }
}

test('one receipt stands for all from the first on', () => {
  expect(opened(3).settle(1, 2, 3)).toEqual(['3 and before'])
})

test('what is still open is never included', () => {
  const { settle } = opened(5)
  expect(settle(5, 2, 4)).toEqual(['5', '2', '4'])
  expect(settle(1)).toEqual(['1'])
  expect(settle(3)).toEqual(['3'])
})

test('nothing is settled twice', () => {
  const { settle } = opened(2)
  expect(settle(1)).toEqual(['1'])
  expect(settle(1)).toEqual([])
  expect(settle(1, 2)).toEqual(['2'])
})

test('in whatever order and groups, the broker forgets exactly what was settled', () => {
  const groups = fc.array(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 }), { maxLength: 20 })
  fc.assert(
    fc.property(groups, (settlements) => {
      const { open } = opened(30)
      const [atBroker, settled] = [new Set(Array.from({ length: 30 }, (_, index) => index + 1)), new Set<number>()]
      for (const tags of settlements) {
        for (const { message: told, allUpTo } of open.settle(tags.map(message))) {
          // The broker closes the channel when it is told of what it does not know.
          expect(atBroker.has(told.fields.deliveryTag)).toBe(true)
          for (const tag of [...atBroker]) {
            if (tag === told.fields.deliveryTag || (allUpTo && tag < told.fields.deliveryTag)) atBroker.delete(tag)
          }
        }
        for (const tag of tags) settled.add(tag)
        expect(atBroker.size).toBe(30 - settled.size)
        expect([...settled].every((tag) => !atBroker.has(tag))).toBe(true)
        expect(open.size).toBe(atBroker.size)
      }
    }),
  )
})
