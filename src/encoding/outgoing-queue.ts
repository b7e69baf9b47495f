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

/** Messages that wait for their time are parked under names that begin with this. No handler name may begin with it. */
const delayedPrefix = '@'

/** The handler name under which messages are parked until they are due and go to this queue. */
export function delayedUnder(queue: string): string {
  return delayedPrefix + queue
}

/** Whether messages parked under this name wait for their time. */
export function isDelayed(handler: string): boolean {
  return handler.startsWith(delayedPrefix)
}

/** Whether parked messages of this name are put into a queue when they are due, instead of being handled. */
export function isForQueue(handler: string): boolean {
  return isOutgoing(handler) || isDelayed(handler)
}

/** The queue that they are put into. */
export function queueUnder(handler: string): string {
  return isDelayed(handler) ? handler.slice(delayedPrefix.length) : handler
}
