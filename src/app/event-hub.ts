import { channel } from 'node:diagnostics_channel'
import type { Events, JustonceEvent } from '../contracts/index.ts'

const diagnostics = channel('justonce')

type Listener = (event: JustonceEvent) => void

/**
 * Passes events to the listeners and to the diagnostics channel `justonce`, or to `otherwise` if nobody replaces the log, or a listener
 * has failed. A failing listener cannot harm the engine. `own` receives everything and does not count as a listener.
 */
export function eventHub(
  otherwise?: (event: JustonceEvent) => void,
  own: (event: JustonceEvent) => void = () => {},
): Events {
  const listeners = new Set<Listener>()
  let loggers = 0
  /** The contract says that a listener that throws is ignored; so is one that returns a promise which rejects. */
  const tell = (listener: Listener, event: JustonceEvent): void => {
    try {
      const heard: unknown = listener(event)
      if (heard instanceof Promise) heard.catch(() => instead(event))
    } catch {
      instead(event)
    }
  }
  /** Otherwise a logger that is broken would leave nothing of what it should have said. */
  const instead = (event: JustonceEvent): void => {
    try {
      otherwise?.(event)
    } catch {}
  }
  return {
    emit(event) {
      own(event)
      if (diagnostics.hasSubscribers) diagnostics.publish(event)
      for (const listener of listeners) tell(listener, event)
      if (otherwise !== undefined && loggers === 0 && !diagnostics.hasSubscribers) instead(event)
    },
    listen(listener, { replacesLog = true } = {}) {
      // Each subscription is its own, also of one function.
      const each: Listener = (event) => listener(event)
      listeners.add(each)
      if (replacesLog) loggers++
      return () => {
        if (!listeners.delete(each)) return
        if (replacesLog) loggers--
      }
    },
  }
}
