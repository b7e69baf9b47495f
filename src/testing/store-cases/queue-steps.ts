import type { Queue, QueuedMessage, Store } from '../../contracts/index.ts'
import { present, textOf, toQueue } from '../sample-records.ts'

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

export function take<Tx>(store: Store<Tx>, limit: number, visibilityMs = aMinute): Promise<readonly QueuedMessage[]> {
  return queueOf(store).take('notes', { limit, visibilityMs })
}

export function textsOf(taken: readonly QueuedMessage[]): string[] {
  return taken.map(({ message }) => textOf(message))
}
