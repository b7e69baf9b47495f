import { channel } from 'node:diagnostics_channel'
import type { Events, JustonceEvent } from '../contracts/index.ts'

const diagnostics = channel('justonce')

/**
 * Passes events to the listeners and to the diagnostics channel `justonce`, or to `otherwise` if nobody replaces the log. A failing
 * listener cannot harm the engine. `own` receives everything and does not count as a listener.
 */
export function eventHub(
  otherwise?: (event: JustonceEvent) => void,
  own: (event: JustonceEvent) => void = () => {},
): Events {
  const listeners = new Set<(event: JustonceEvent) => void>()
  let loggers = 0
  const tell = (listener: (event: JustonceEvent) => void, event: JustonceEvent): void => {
    try {
      listener(event)
    } catch {
      // The contract says that a listener that throws is ignored.
    }
  }
  return {
    emit(event) {
      own(event)
      if (diagnostics.hasSubscribers) diagnostics.publish(event)
      for (const listener of listeners) tell(listener, event)
      if (otherwise !== undefined && loggers === 0 && !diagnostics.hasSubscribers) tell(otherwise, event)
    },
    listen(listener, { replacesLog = true } = {}) {
      // Each subscription is its own, also of one function.
      const each = (event: JustonceEvent): void => listener(event)
      listeners.add(each)
      if (replacesLog) loggers++
      return () => {
        if (!listeners.delete(each)) return
        if (replacesLog) loggers--
      }
    },
  }
}
