import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly title: string
  /** Numbers stand below each other. */
  readonly isNumber?: boolean
  /** Takes the room that the others leave. */
  readonly isWide?: boolean
  cell(row: Row): ComponentChildren
}

export interface Choice<Row> {
  readonly chosen: ReadonlySet<string>
  isChoosable?(row: Row): boolean
  change(chosen: ReadonlySet<string>): void
}

interface TableProps<Row> {
  /** What it lists, for those who do not see it. */
  readonly label: string
  readonly rows: readonly Row[] | undefined
  readonly columns: readonly Column<Row>[]
  keyOf(row: Row): string
  readonly empty: ComponentChildren
  readonly choice?: Choice<Row> | undefined
}

/** On a narrow screen each row becomes a card, and its cells say what they are. */
export function Table<Row>({ label, rows, columns, keyOf, empty, choice }: TableProps<Row>) {
  if (rows === undefined) return <p class="empty muted">Loading …</p>
  if (rows.length === 0) return <p class="empty">{empty}</p>
  const keys = rows.filter((row) => choice?.isChoosable?.(row) ?? true).map(keyOf)
  const areAllChosen = keys.length > 0 && keys.every((key) => choice?.chosen.has(key))
  const toggle = (wanted: readonly string[], isChosen: boolean): void => {
    const next = new Set(choice?.chosen)
    for (const key of wanted) isChosen ? next.add(key) : next.delete(key)
    choice?.change(next)
  }
  return (
    <div class="table-frame">
      <table aria-label={label}>
        <thead>
          <tr>
            {choice && (
              <th class="choose">
                <input
                  type="checkbox"
                  aria-label="Choose all on this page"
                  checked={areAllChosen}
                  onChange={() => toggle(keys, !areAllChosen)}
                />
              </th>
            )}
            {columns.map(({ title, isNumber, isWide }) => (
              <th key={title} scope="col" class={`${isNumber ? 'number' : ''} ${isWide ? 'wide' : ''}`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row)
            return (
              <tr key={key} class={choice?.chosen.has(key) ? 'chosen' : ''}>
                {choice && (
                  <td class="choose">
                    <input
                      type="checkbox"
                      aria-label={`Choose ${key}`}
                      disabled={!(choice.isChoosable?.(row) ?? true)}
                      checked={choice.chosen.has(key)}
                      onChange={() => toggle([key], !choice.chosen.has(key))}
                    />
                  </td>
                )}
                {columns.map(({ title, isNumber, isWide, cell }) => (
                  <td key={title} data-title={title} class={`${isNumber ? 'number' : ''} ${isWide ? 'wide' : ''}`}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
