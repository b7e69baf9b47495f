import type { ComponentChildren } from 'preact'
import { clock, inOrder } from '../format.ts'
import { Said } from '../parts/small.tsx'
import type { Story } from '../wire.ts'

interface Happened {
  readonly at: string
  readonly tone: string
  readonly what: ComponentChildren
  readonly more?: string | undefined
}

/** Everything that has a time, in its order. */
export function Timeline({ story }: { readonly story: Story }) {
  const events = eventsOf(story).toSorted((a, b) => a.at.localeCompare(b.at))
  return (
    <ol class="timeline">
      {events.map(({ at, tone, what, more }, place) => (
        <li key={place} class={tone}>
          <time dateTime={at}>{clock(at)}</time>
          <div>
            {what}
            {more !== undefined && more !== '' && <Said text={more} />}
          </div>
        </li>
      ))}
    </ol>
  )
}

function eventsOf({
  handlers,
  duplicates,
  actions,
  outgoing,
  waitsFor,
  inQueue,
  leavesAt,
}: Story): readonly Happened[] {
  const ofHandlers = handlers.flatMap(
    ({ handler, state, at, errors, parkedAt, nextAt, behind, running, reason }): Happened[] => {
      const name = <code>{handler}</code>
      const ending: Happened[] =
        state === 'running'
          ? [{ at: running?.since ?? at, tone: 'info', what: <>{name} is running it</> }]
          : state === 'waiting'
            ? nextAt === undefined || behind !== undefined
              ? []
              : [{ at: nextAt, tone: 'warn', what: <>{name} is due for its next attempt</>, more: undefined }]
            : state === 'dead'
              ? [
                  {
                    at,
                    tone: 'bad',
                    what: (
                      <>
                        {name} gave up: it is a dead letter ({reason})
                      </>
                    ),
                  },
                ]
              : [
                  {
                    at,
                    tone: 'ok',
                    what: (
                      <>
                        {name}: {state}
                      </>
                    ),
                  },
                ]
      return [
        // What fails is parked in the same moment.
        ...(parkedAt === undefined || errors.length > 0
          ? []
          : [{ at: parkedAt, tone: 'plain', what: <>parked for {name}</> }]),
        ...errors.map((error) => ({ at: error.at, tone: 'bad', what: <>{name} failed</>, more: error.message })),
        ...ending,
      ]
    },
  )
  const copies = duplicates.map(
    ({ at, handler, redelivered }): Happened => ({
      at,
      tone: 'plain',
      what: (
        <>
          a copy for <code>{handler}</code>, {redelivered ? 'delivered again by the broker' : 'sent again'}: skipped
        </>
      ),
    }),
  )
  const done = actions.map(
    ({ at, action, by, why }): Happened => ({ at, tone: 'info', what: `${action} by ${by}`, more: why }),
  )
  const itself: Happened[] = [
    ...(waitsFor === undefined
      ? []
      : [
          {
            at: waitsFor.since,
            tone: 'info',
            what: (
              <>
                published, and waits for <code>{waitsFor.destination}</code>
              </>
            ),
          },
        ]),
    ...(inQueue === undefined
      ? []
      : [
          {
            at: inQueue.since,
            tone: 'info',
            what: (
              <>
                sent to the queue <code>{inQueue.queue}</code>
              </>
            ),
          },
        ]),
    ...(leavesAt === undefined ? [] : [{ at: leavesAt, tone: 'warn', what: 'leaves' }]),
  ]
  const published = outgoing.map(
    ({ publishedAt, type, id }): Happened => ({
      at: publishedAt,
      tone: 'plain',
      what: (
        <>
          published <code>{type}</code> <code>{inOrder(id)}</code>
        </>
      ),
    }),
  )
  return [...itself, ...ofHandlers, ...published, ...copies, ...done]
}
