import { channel } from 'node:diagnostics_channel'
import type { Events, JustonceEvent } from '../contracts/index.ts'

const diagnostics = channel('justonce')

/**
 * Passes events to the listeners and to the diagnostics channel `justonce`, or to `otherwise` if there are none. A failing
 * listener cannot harm the engine. `own` receives everything and does not count as a listener.
 */
export function eventHub(
  otherwise?: (event: JustonceEvent) => void,
  own: (event: JustonceEvent) => void = () => {},
): Events {
  const listeners = new Set<(event: JustonceEvent) => void>()
  return {
    emit(event) {
      own(event)
      const isHeard = diagnostics.hasSubscribers || listeners.size > 0
      if (diagnostics.hasSubscribers) diagnostics.publish(event)
      for (const listener of isHeard || otherwise === undefined ? listeners : [otherwise]) {
        try {
          listener(event)
        } catch {
          // The contract says that a listener that throws is ignored.
        }
      }
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
