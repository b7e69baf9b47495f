import { useState } from 'preact/hooks'
import { count, counted, inOrder } from '../format.ts'
import { Body, HeaderList } from '../parts/body.tsx'
import { Code, ErrorText, Facts, Panel, State, Time, Trouble } from '../parts/small.tsx'
import { link } from '../route.ts'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { HandlerStory, Story } from '../wire.ts'
import { DiscardDialog, ForgetDialog, RunNowDialog } from './actions.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { Nowhere } from './nowhere.tsx'
import { RedriveDialog } from './redrive-dialog.tsx'
import { Behind, Cause, Copies, Intents, Published } from './story-parts.tsx'
import { Timeline } from './timeline.tsx'

/** Everything that is known of one message, on one page. */
export function StoryPage({ query }: { readonly query: URLSearchParams }) {
  const id = query.get('id') ?? ''
  const { data: story, error, reload } = useAsked<Story | null>('messages/story', { id }, 3_000)
  return (
    <>
      <header class="page-head">
        <h1>
          Message <code>{inOrder(id)}</code>
        </h1>
      </header>
      <Trouble error={error} />
      {story === null && <Nowhere />}
      {story && (
        <>
          <Facts
            of={[
              ['type', story.type && <Code text={story.type} />],
              ['came from', story.source && <Code text={story.source} />],
              [
                'about',
                story.businessId && <Code text={story.businessId} href={link('messages', { id: story.businessId })} />,
              ],
              ['published by', story.causedBy && <Cause cause={story.causedBy} />],
              [
                'waits for',
                story.waitsFor && (
                  <Code
                    text={story.waitsFor.destination}
                    href={link('outgoing', { destination: story.waitsFor.destination })}
                  />
                ),
              ],
              ['in the queue', story.inQueue && <Code text={story.inQueue.queue} />],
              ['leaves', story.leavesAt && <Time at={story.leavesAt} />],
              ['copies skipped', count(story.duplicates.length)],
            ]}
          />
          <div class="cards">
            {story.handlers.map((handler) => (
              <HandlerCard key={`${handler.handler} ${handler.key}`} story={handler} changed={reload} />
            ))}
          </div>
          {story.inQueue && (
            <p class="empty">
              It is still in its queue, taken {counted(story.inQueue.deliveries, 'time')}. No handler has finished it.
            </p>
          )}
          {story.handlers.length === 0 && story.waitsFor === undefined && story.inQueue === undefined && (
            <p class="empty">No handler has a record of it or has it parked.</p>
          )}
          <div class="columns">
            <Panel title="What happened">
              <Timeline story={story} />
            </Panel>
            <Content story={story} />
          </div>
          <Copies story={story} />
          <Published story={story} />
          {story.intents.length > 0 && <Intents story={story} />}
        </>
      )}
    </>
  )
}

function Content({ story: { message } }: { readonly story: Story }) {
  if (message === undefined)
    return (
      <Panel title="Message">
        <p class="empty">
          The message itself is kept only while it is parked. Records say that it was processed, not what was in it.
        </p>
      </Panel>
    )
  return (
    <Panel title={message.edited ? 'Message, edited' : 'Message'}>
      <h3>Headers</h3>
      <HeaderList headers={message.headers} />
      <h3>Body</h3>
      <Body body={message.body} />
      {message.originalBody && (
        <>
          <h3>Body as it was received</h3>
          <Body body={message.originalBody} />
        </>
      )}
    </Panel>
  )
}

type Opened = 'redrive' | 'edit' | 'discard' | 'discard-waiting' | 'run-now' | 'forget'

function HandlerCard({ story, changed }: { readonly story: HandlerStory; readonly changed: () => void }) {
  const [opened, setOpened] = useState<Opened>()
  const mayOperate = useMay('operate')
  const mayBodies = useMay('bodies')
  const { handler, key, state, running, paused, redrive, result } = story
  const selection = [{ handler, key }]
  const dialog = { selection, close: () => setOpened(undefined), done: changed }
  const button = (name: Opened, label: string) => (
    <button type="button" onClick={() => setOpened(name)}>
      {label}
    </button>
  )
  return (
    <section class="card">
      <header>
        <h2>
          <code>{handler}</code>
        </h2>
        <State is={state} />
      </header>
      <Facts
        of={[
          ['since', <Time key="at" at={story.at} />],
          ['key', key === story.messageId ? undefined : <Code text={key} />],
          ['attempts', story.attempts && count(story.attempts)],
          ['reason', story.reason && <code>{story.reason}</code>],
          ['next attempt', story.nextAt && story.behind === undefined && <Time at={story.nextAt} />],
          ['waits behind', story.behind && <Behind behind={story.behind} />],
          ['runs in', running && <>{`${running.host}/${running.pid}, attempt ${running.attempt}`}</>],
          ['paused', paused && `by ${paused.by}${paused.why === '' ? '' : `: ${paused.why}`}`],
          ['redrive', redrive && <a href={link('redrive', { id: redrive.id })}>running</a>],
          ['last error', story.errors.length > 0 && <ErrorText text={story.errors.at(-1)?.message} />],
        ]}
      />
      {result && (
        <details>
          <summary>Result</summary>
          <Body body={result} />
        </details>
      )}
      {mayOperate && (
        <footer>
          {state === 'dead' && redrive === undefined && (
            <>
              {button('redrive', 'Redrive …')}
              {mayBodies && button('edit', 'Edit and redrive …')}
              {button('discard', 'Discard …')}
            </>
          )}
          {state === 'waiting' && (
            <>
              {button('run-now', 'Run now …')}
              {button('discard-waiting', 'Discard …')}
            </>
          )}
          {state === 'processed' && button('forget', 'Forget …')}
        </footer>
      )}
      {opened === 'redrive' && <RedriveDialog {...dialog} />}
      {opened === 'edit' && <EditDialog handler={handler} letterKey={key} close={dialog.close} />}
      {opened === 'discard' && <DiscardDialog {...dialog} of="letters" />}
      {opened === 'discard-waiting' && <DiscardDialog {...dialog} of="waiting" />}
      {opened === 'run-now' && <RunNowDialog {...dialog} />}
      {opened === 'forget' && <ForgetDialog handler={handler} letterKey={key} close={dialog.close} done={changed} />}
    </section>
  )
}
