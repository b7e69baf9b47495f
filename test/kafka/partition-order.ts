import { compatibilityPartitioner } from '@platformatic/kafka'
import { expect } from 'vitest'
import { messageType } from '../crash/fixtures/consumer-config.ts'
import { exactlyOnce } from '../crash/verdict.ts'
import type { World } from '../crash/world.ts'

/** One key for each partition, so that what has one key is all that is in its partition. */
export function keysOfPartitions(count: number): readonly string[] {
  const names = Array.from({ length: 100 }, (_, index) => `k${index}`)
  const partitionOf = (name: string): number => compatibilityPartitioner({} as never, Buffer.from(name)) % count
  return Array.from(
    { length: count },
    (_, partition) => names.find((name) => partitionOf(name) === partition) as string,
  )
}

export function idOf(key: string, number: number): string {
  return `${key}-${String(number).padStart(5, '0')}`
}

/** To each key the messages with these numbers. */
export async function sendNumbers(world: World, keys: readonly string[], from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number++) {
    const envelope = { type: messageType, body: new TextEncoder().encode('{}'), headers: {}, sentAt: new Date() }
    await world.publish(keys.map((key) => ({ id: idOf(key, number), key, ...envelope })))
  }
}

/** Of each message every effect once, and in each partition in the order in which they were sent. */
export async function expectOnceInOrder(world: World, keys: readonly string[], count: number): Promise<void> {
  expect(await world.verdict([1, 2])).toEqual(exactlyOnce)
  const firstWrites = (await world.readLedger()).filter(({ part }) => part === 1)
  for (const key of keys) {
    const written = firstWrites.flatMap(({ message }) => (message.startsWith(`${key}-`) ? message : []))
    expect(written).toEqual(Array.from({ length: count }, (_, index) => idOf(key, index + 1)))
  }
}
