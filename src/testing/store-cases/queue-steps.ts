import type { Queue, QueueCount, QueuedMessage, Store } from '../../contracts/index.ts'
import { present, textOf, toQueue } from '../sample-records.ts'
import { eventually } from '../waiting.ts'

export const aMinute = 60_000

export function queueOf<Tx>(store: Store<Tx>): Queue<Tx> {
  return present(store.queue, 'store.queue')
}

export function send<Tx>(store: Store<Tx>, ...texts: readonly string[]): Promise<void> {
  return queueOf(store).send(
    undefined,
    'notes',
    texts.map((text) => toQueue(text)),
  )
}

/** The first letter of each text is its key. */
export function sendKeyed<Tx>(store: Store<Tx>, ...texts: readonly string[]): Promise<void> {
  return queueOf(store).send(
    undefined,
    'notes',
    texts.map((text) => toQueue(text, keyOf(text))),
  )
}

export const keyOf = (text: string) => text.slice(0, 1)

export function take<Tx>(store: Store<Tx>, limit: number, visibilityMs = aMinute): Promise<readonly QueuedMessage[]> {
  return queueOf(store).take('notes', { limit, visibilityMs })
}

/** Takes what is available as soon as a visibility timeout has passed. */
export function takenAgain<Tx>(store: Store<Tx>): Promise<readonly QueuedMessage[]> {
  return eventually(async () => {
    const taken = await take(store, 10)
    return taken.length > 0 ? taken : undefined
  }, 'a visibility running out')
}

export function remove<Tx>(store: Store<Tx>, taken: readonly { readonly ticket: string }[]): Promise<void> {
  return queueOf(store).remove(
    undefined,
    'notes',
    taken.map(({ ticket }) => ticket),
  )
}

/** Without the age of the oldest message, which changes every time. */
export async function countsOf<Tx>(store: Store<Tx>, queue = 'notes'): Promise<Omit<QueueCount, 'oldestMs'>> {
  const { ready, hidden } = await queueOf(store).count(queue)
  return { ready, hidden }
}

export function textsOf(taken: readonly QueuedMessage[]): string[] {
  return taken.map(({ message }) => textOf(message))
}

export function deliveriesOf(taken: readonly QueuedMessage[]): number[] {
  return taken.map(({ deliveries }) => deliveries)
}
