import { inOrder } from '../format.ts'
import { Code, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { useAsked } from '../use-asked.ts'
import type { Action } from '../wire.ts'

export function AuditPage() {
  const { data, error } = useAsked<readonly Action[]>('audit', { limit: 200 }, 10_000)
  return (
    <>
      <header class="page-head">
        <h1>Audit</h1>
        <span class="muted">what operators did, the latest first</span>
      </header>
      <Trouble error={error} />
      <Table
        label="Audit"
        rows={data?.map((action, place) => ({ ...action, place }))}
        keyOf={({ at, place }) => `${at} ${place}`}
        empty="Nobody has done anything."
        columns={[
          { title: 'when', cell: ({ at }) => <Time at={at} /> },
          { title: 'action', cell: ({ action }) => <strong>{action}</strong> },
          { title: 'by', cell: ({ by }) => <Code text={by} /> },
          { title: 'why', cell: ({ why }) => inOrder(why) },
          {
            title: 'what',
            isWide: true,
            cell: ({ subject }) => <Code text={typeof subject === 'string' ? subject : JSON.stringify(subject)} />,
          },
        ]}
      />
    </>
  )
}
