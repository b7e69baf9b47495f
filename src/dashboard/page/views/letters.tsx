import { Filters } from '../parts/filters.tsx'
import { State, Time } from '../parts/small.tsx'
import { given, link } from '../route.ts'
import type { LetterRow } from '../wire.ts'
import { Groups } from './groups.tsx'
import { letterFields, letterFilter } from './letter-fields.ts'
import { ParkedList } from './parked-list.tsx'
import { RedriveDialog } from './redrive-dialog.tsx'
import { Redrives } from './redrives.tsx'

const tabs = [
  ['groups', 'By cause'],
  ['list', 'One by one'],
  ['redrives', 'Redrives'],
] as const

export function LettersPage({ query }: { readonly query: URLSearchParams }) {
  const tab = query.get('tab') ?? 'groups'
  const filter = letterFilter(query)
  const path = 'letters'
  const keep: Record<string, string> = tab === 'groups' ? {} : { tab }
  return (
    <>
      <header class="page-head">
        <h1>Dead letters</h1>
        <nav class="segments" aria-label="How to show them">
          {tabs.map(([name, label]) => (
            <a
              key={name}
              aria-current={name === tab ? 'page' : undefined}
              href={link(path, { ...filter, ...(name !== 'groups' && { tab: name }) })}
            >
              {label}
            </a>
          ))}
        </nav>
      </header>
      {tab !== 'redrives' && <Filters path={path} fields={letterFields} given={filter} keep={keep} />}
      {filter.shape !== undefined && (
        <p class="note">
          Only the cause <code>{filter.shape}</code>
        </p>
      )}
      {tab === 'groups' && <Groups filter={filter} />}
      {tab === 'list' && <List filter={filter} after={given(query, ['after'])} />}
      {tab === 'redrives' && <Redrives />}
    </>
  )
}

function List({ filter, after }: Readonly<Record<'filter' | 'after', Readonly<Record<string, string>>>>) {
  return (
    <ParkedList<LetterRow>
      of="letters"
      label="Dead letters"
      empty="There is no such dead letter."
      filter={filter}
      after={after}
      keep={{ tab: 'list' }}
      everyMs={0}
      when={{ title: 'died', cell: ({ diedAt }) => <Time at={diedAt} /> }}
      more={[
        {
          title: '',
          cell: ({ redrive, edited }) => (
            <>
              {redrive !== undefined && <State is="in a redrive" tone="info" />}
              {edited && <State is="edited" />}
            </>
          ),
        },
      ]}
      isChoosable={({ redrive }) => redrive === undefined}
      act={['Redrive', ({ selection, close }) => <RedriveDialog selection={selection} close={close} />]}
    />
  )
}
