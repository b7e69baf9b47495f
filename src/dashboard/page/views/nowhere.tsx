import { counted } from '../format.ts'
import { link } from '../route.ts'
import { useAsked } from '../use-asked.ts'
import type { Handler, Overview } from '../wire.ts'

/** What it means that nothing is known of a message, and what may keep it where it is. */
export function Nowhere() {
  const { data: handlers = [] } = useAsked<readonly Handler[]>('handlers', {}, 10_000)
  const { data: overview } = useAsked<Overview>('overview', { minutes: 0 }, 10_000)
  const waiting = Object.entries(overview?.brokers ?? {}).filter(([, count]) => count > 0)
  return (
    <div class="empty">
      <p>
        Nothing is known of it: no handler of an app has processed it or has it parked, none is running it, and it is
        not among the oldest 1,000 of any queue of the store. It has not arrived, is still at its broker, or is called
        otherwise. What <code>once()</code> has done is found by the name that it was given as its handler.
      </p>
      <ul>
        {overview?.processes === 0 && <li>No process reports that it is alive.</li>}
        {handlers.map(({ name, paused, processes }) => {
          const isOpen = processes.some(({ breaker }) => breaker === 'open')
          return (
            (paused !== undefined || isOpen) && (
              <li key={name}>
                The handler <a href={link('handlers')}>{name}</a>{' '}
                {paused === undefined
                  ? 'fails on everything: what arrives for it is held, and tried one at a time.'
                  : `is paused by ${paused.by}: what arrives for it is held.`}
              </li>
            )
          )
        })}
        {waiting.map(([name, count]) => (
          <li key={name}>
            {counted(count, 'message waits', 'messages wait')} at {name}.
          </li>
        ))}
      </ul>
    </div>
  )
}
