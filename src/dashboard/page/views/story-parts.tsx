import { count } from '../format.ts'
import { Code, ErrorText, MessageLink, Panel, State, Time } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { link } from '../route.ts'
import type { HandlerStory, Story } from '../wire.ts'

export function Behind({
  behind: { key, messageId, state },
}: {
  readonly behind: NonNullable<HandlerStory['behind']>
}) {
  return (
    <>
      <MessageLink id={messageId ?? key} /> <State is={state} />
    </>
  )
}

export function Copies({ story: { duplicates } }: { readonly story: Story }) {
  if (duplicates.length === 0) return null
  return (
    <Panel title="Copies that came later" aside={<span class="muted">as far as processes remember</span>}>
      <Table
        label="Copies that came later"
        rows={duplicates}
        keyOf={({ at, handler, process }) => `${at} ${handler} ${process}`}
        empty=""
        columns={[
          { title: 'when', cell: ({ at }) => <Time at={at} /> },
          { title: 'handler', cell: ({ handler }) => <Code text={handler} /> },
          {
            title: 'why it came',
            isWide: true,
            cell: ({ redelivered, deliveries }) =>
              redelivered
                ? `delivered again by the broker${deliveries === undefined ? '' : `, delivery ${deliveries}`}`
                : 'sent again, or the broker does not say why',
          },
          {
            title: 'recognised by',
            cell: ({ recognisedBy }) => (recognisedBy === 'store' ? 'its record' : 'the process itself'),
          },
          { title: 'process', cell: ({ process }) => <Code text={process} /> },
        ]}
      />
    </Panel>
  )
}

export function Cause({ cause: { handler, key } }: { readonly cause: NonNullable<Story['causedBy']> }) {
  return (
    <>
      <Code text={handler} />
      {key !== undefined && (
        <>
          {' for '}
          <MessageLink id={key} />
        </>
      )}
    </>
  )
}

export function Published({ story: { outgoing, isOutgoingComplete } }: { readonly story: Story }) {
  if (outgoing.length === 0) return null
  return (
    <Panel
      title="Published and not sent yet"
      aside={!isOutgoingComplete && <span class="muted">among the 1,000 oldest of each destination</span>}
    >
      <Table
        label="Published and not sent yet"
        rows={outgoing}
        keyOf={({ id, destination, place, letter }) => `${destination} ${place ?? letter?.key} ${id}`}
        empty=""
        columns={[
          { title: 'message', cell: ({ id }) => <MessageLink id={id} /> },
          { title: 'type', cell: ({ type }) => <Code text={type} /> },
          { title: 'to', cell: ({ destination }) => <Code text={destination} /> },
          { title: 'state', cell: ({ state }) => <State is={state} /> },
          { title: 'leaves', cell: ({ dueAt }) => dueAt && <Time at={dueAt} /> },
          { title: 'attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
          { title: 'published by', cell: ({ causedBy }) => causedBy && <Code text={causedBy.handler} /> },
          { title: 'error', isWide: true, cell: ({ error }) => <ErrorText text={error} /> },
        ]}
      />
    </Panel>
  )
}

export function Intents({ story: { intents } }: { readonly story: Story }) {
  return (
    <Panel title="Calls outside">
      <Table
        label="Calls outside"
        rows={intents}
        keyOf={({ handler, key }) => `${handler} ${key}`}
        empty=""
        columns={[
          {
            title: 'effect',
            cell: ({ handler, key }) => (
              <Code text={handler.slice(1)} href={link('intent', { effect: handler.slice(1), key })} />
            ),
          },
          { title: 'state', cell: ({ state }) => <State is={state} /> },
          { title: 'reason', isWide: true, cell: ({ reason }) => reason ?? '' },
          { title: 'since', cell: ({ at }) => <Time at={at} /> },
        ]}
      />
    </Panel>
  )
}
