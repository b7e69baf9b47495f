/** Messages that wait to be sent are in queues of the store whose names begin with this. No other queue, and no handler, may be called so. */
const prefix = '>'

export function outgoingQueue(destination: string): string {
  return prefix + destination
}

/** What waits in a queue of this name, or failed there, is on its way out. */
export function isOutgoing(name: string): boolean {
  return name.startsWith(prefix)
}

export function destinationOf(queue: string): string {
  return queue.slice(prefix.length)
}
