/**
 * Messages that wait to be sent are in queues of the store whose names begin with this. No other queue or handler name may begin
 * with it.
 */
const prefix = '>'

export function outgoingQueue(destination: string): string {
  return prefix + destination
}

/** Whether messages in a queue of this name, or dead letters under it, are outgoing. */
export function isOutgoing(name: string): boolean {
  return name.startsWith(prefix)
}

export function destinationOf(queue: string): string {
  return queue.slice(prefix.length)
}
