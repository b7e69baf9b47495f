import { count } from '../format.ts'
import { Code, Panel, State, Time } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import type { Alert } from '../wire.ts'

/** The rules of `alerts` that are not quiet; nothing if there is none. */
export function Alerts({ alerts = [] }: { readonly alerts: readonly Alert[] | undefined }) {
  if (alerts.length === 0) return null
  return (
    <Panel title="Alerts" aside={<span class="muted">{count(alerts.length)}</span>}>
      <Table
        label="Alerts"
        rows={alerts}
        keyOf={({ rule, app, when, over }) => JSON.stringify([rule, app, when, over])}
        empty=""
        columns={[
          { title: 'rule', isWide: true, cell: ({ rule }) => <Code text={rule} /> },
          { title: 'app', cell: ({ app }) => <Code text={app} /> },
          { title: 'phase', cell: ({ phase }) => <State is={phase} /> },
          { title: 'value', isNumber: true, cell: ({ value }) => shortened(value) },
          { title: 'limit', isNumber: true, cell: ({ over }) => shortened(over) },
          { title: 'since', cell: ({ since }) => <Time at={since} /> },
          { title: 'looked at', cell: ({ seenAt }) => <Time at={seenAt} /> },
        ]}
      />
    </Panel>
  )
}

/** Counts and milliseconds are whole, shares are not. */
function shortened(value: number): string {
  return value >= 1 ? count(Math.round(value)) : String(Number(value.toPrecision(3)))
}
