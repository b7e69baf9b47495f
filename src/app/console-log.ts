import type { Clock, JustonceEvent } from '../contracts/index.ts'
import { lineOf, onOneLine } from './event-lines.ts'

/** How often one kind of trouble gets a line. The next line says how many were suppressed in between. */
const everyMs = 30_000
const longestLine = 1_000

/**
 * For apps without listeners: prints important events to the console, one line each, not too often. Prints nothing about
 * successes.
 */
export function consoleLog(
  clock: Clock,
  write: (line: string) => void = (line) => console.warn(line),
): (event: JustonceEvent) => void {
  const said = new Map<string, { readonly at: number; unsaid: number }>()
  return (event) => {
    const line = lineOf(event)
    if (line === undefined) return
    const about = topicOf(event)
    const before = said.get(about)
    const now = clock.monotonicMs()
    if (before !== undefined && now - before.at < everyMs) {
      before.unsaid++
      return
    }
    const more =
      before !== undefined && before.unsaid > 0 ? ` (and ${before.unsaid} more since the last such line)` : ''
    said.set(about, { at: now, unsaid: 0 })
    write(`justonce: ${onOneLine(line, longestLine)}${more}`)
  }
}

/** Events with the same topic share one limit. */
function topicOf(event: JustonceEvent): string {
  const { kind, state, handler, code, loop, transport, destination, schedule, effect, next, rule } = event as Partial<
    Record<string, string>
  >
  return JSON.stringify([kind, state, handler, code, loop, transport, destination, schedule, effect, next, rule])
}
