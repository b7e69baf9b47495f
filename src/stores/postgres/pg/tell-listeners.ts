import { type EventEmitter, errorMonitor } from 'node:events'

/** For tools that trace queries. An `error` that nobody listens for would be thrown, and callers get it anyway. */
export function tellListeners(query: EventEmitter, error?: unknown): void {
  if (error === undefined) query.emit('end')
  else query.emit(query.listenerCount('error') > 0 ? 'error' : errorMonitor, error)
}
