import { useState } from 'preact/hooks'
import { post } from '../api.ts'
import { clock, count } from '../format.ts'
import { Body } from '../parts/body.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Code, Facts, Panel, Said, State, Time, Trouble } from '../parts/small.tsx'
import { link } from '../route.ts'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { Intent } from '../wire.ts'

type Way = 'done' | 'again' | 'discarded'

type Reservation = NonNullable<Intent['reservation']>
type Wording = { readonly label: string; readonly title: string; readonly text: string }

const ofCalls: Readonly<Record<Way, Wording>> = {
  done: {
    label: 'It happened …',
    title: 'It has happened?',
    text: 'Say so only if you have seen it at the provider. Whoever waits for its outcome is told.',
  },
  again: {
    label: 'Call again …',
    title: 'Call it once more?',
    text: 'Only if the provider has certainly not done it, or recognises the idempotency key.',
  },
  discarded: {
    label: 'Discard …',
    title: 'Discard it?',
    text: 'Nobody calls it any more. Whoever waits for its outcome is told that it failed.',
  },
}

const ofReservations: Readonly<Partial<Record<Way, Wording>>> = {
  again: { label: 'Go on …', title: 'Go on with it now?', text: 'It does not wait for its next attempt.' },
  discarded: {
    label: 'Cancel …',
    title: 'Cancel it?',
    text: 'What its participants have set aside is given back. Whoever waits for its outcome is told.',
  },
}

/** What a person can say about it. A reservation that is to be confirmed can only go on. */
function wordingsOf(reservation: Reservation | undefined): Readonly<Partial<Record<Way, Wording>>> {
  if (reservation === undefined) return ofCalls
  const { again, discarded } = ofReservations
  return reservation.decision === 'confirm' ? { again } : { again, discarded }
}

function participantsOf({ participants }: Reservation): string {
  return Object.entries(participants)
    .map(([name, state]) => `${name} ${state}`)
    .join(', ')
}

/** One call outside: what is known of it, and what a person can say about it. */
export function IntentPage({ query }: { readonly query: URLSearchParams }) {
  const [effect, key] = [query.get('effect') ?? '', query.get('key') ?? '']
  const { data: intent, error, reload } = useAsked<Intent | null>('intents/one', { effect, key }, 3_000)
  const reservation = intent?.reservation
  const wordings = wordingsOf(reservation)
  const [way, setWay] = useState<Way>()
  const mayOperate = useMay('operate')
  return (
    <>
      <header class="page-head">
        <h1>
          Intent <code>{effect}</code>
        </h1>
        {intent && <State is={intent.state} />}
        {intent?.needsPerson && <State is="waits for a person" tone="bad" />}
      </header>
      <Trouble error={error} />
      {intent === null && <p class="empty">It has ended: the call is done, or somebody has settled it.</p>}
      {intent && (
        <>
          <Facts
            of={[
              ['key', <Code key="k" text={key} />],
              ['idempotency key', <Code key="i" text={intent.idempotencyKey} />],
              [
                'for the message',
                intent.causedBy && <Code text={intent.causedBy} href={link('message', { id: intent.causedBy })} />,
              ],
              ['calls begun', count(intent.attempts)],
              ['decision', reservation && (reservation.decision ?? 'not yet')],
              ['participants', reservation && participantsOf(reservation)],
              ['intended', <Time key="t" at={intent.intendedAt} />],
              ['next', intent.nextAt && <Time at={intent.nextAt} />],
            ]}
          />
          {mayOperate && (
            <div class="choice-bar" role="toolbar" aria-label="Resolve">
              {reservation === undefined && <span class="muted">What do you know about it?</span>}
              {(Object.keys(wordings) as Way[]).map((name) => (
                <button type="button" key={name} onClick={() => setWay(name)}>
                  {wordings[name]?.label}
                </button>
              ))}
            </div>
          )}
          <div class="columns">
            <Panel title="What happened">
              <ol class="timeline">
                {intent.errors.map(({ at, message }) => (
                  <li key={`${at}${message}`} class="bad">
                    <time dateTime={at}>{clock(at)}</time>
                    <Said text={message} />
                  </li>
                ))}
              </ol>
            </Panel>
            <Panel title="Payload">
              <Body body={intent.payload} />
            </Panel>
          </div>
        </>
      )}
      {way !== undefined && (
        <ResolveDialog
          wording={wordings[way] ?? ofCalls[way]}
          way={way}
          effect={effect}
          intentKey={key}
          close={() => setWay(undefined)}
          done={reload}
        />
      )}
    </>
  )
}

function ResolveDialog(props: {
  readonly wording: Wording
  readonly way: Way
  readonly effect: string
  readonly intentKey: string
  close(): void
  done(): void
}) {
  const { wording, way, effect, intentKey: key, close, done } = props
  const { label, title, text } = wording
  return (
    <Dialog
      title={title}
      action={label.replace(' …', '')}
      isDangerous={way !== 'done'}
      close={close}
      run={async (signed, form) => {
        const result = String(form.get('result') ?? '').trim()
        const resolution = {
          as: way,
          ...(way === 'done' && result !== '' && { result: JSON.parse(result) as unknown }),
        }
        await post('intents/resolve', { effect, key, resolution, ...signed })
        done()
      }}
    >
      <p>{text}</p>
      {way === 'done' && (
        <label>
          <span>Its result, as JSON, if there is one</span>
          <textarea name="result" rows={3} spellcheck={false} />
        </label>
      )}
    </Dialog>
  )
}
