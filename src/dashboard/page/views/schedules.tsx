import { useState } from 'preact/hooks'
import { post } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Code, State, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { Schedule } from '../wire.ts'

export function SchedulesPage() {
  const { data, error, reload } = useAsked<readonly Schedule[]>('schedules', {}, 5_000)
  const [forgetting, setForgetting] = useState<string>()
  const mayOperate = useMay('operate')
  return (
    <>
      <header class="page-head">
        <h1>Schedules</h1>
      </header>
      <Trouble error={error} />
      <Table
        label="Schedules"
        rows={data}
        keyOf={({ name, type, times }) => `${name} ${type} ${times}`}
        empty="No process has had a schedule."
        columns={[
          { title: 'name', cell: ({ name }) => <Code text={name} /> },
          { title: 'type', cell: ({ type }) => <Code text={type} /> },
          { title: 'times', isWide: true, cell: ({ times }) => <Code text={times} /> },
          { title: 'last tick', cell: ({ lastTick }) => <Time at={lastTick} /> },
          {
            title: 'next tick',
            cell: ({ nextTick }) => (
              <>
                <Time at={nextTick} />{' '}
                {Date.now() - Date.parse(nextTick) > 60_000 && <State is="no process has it" tone="warn" />}
              </>
            ),
          },
          {
            title: 'actions',
            cell: ({ name }) =>
              mayOperate && (
                <button type="button" onClick={() => setForgetting(name)}>
                  Forget …
                </button>
              ),
          },
        ]}
      />
      {forgetting !== undefined && (
        <Dialog
          title={`Forget how far ${forgetting} is?`}
          action="Forget"
          isDangerous
          close={() => setForgetting(undefined)}
          run={async (signed) => {
            await post('schedules/forget', { name: forgetting, ...signed })
            reload()
          }}
        >
          <p>A process that has this schedule begins anew.</p>
        </Dialog>
      )}
    </>
  )
}
