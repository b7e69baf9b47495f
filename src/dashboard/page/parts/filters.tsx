import { useState } from 'preact/hooks'
import { go } from '../route.ts'

export interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** What can be chosen; otherwise text. */
  readonly choices?: readonly string[]
  readonly kind?: 'text' | 'time'
  /** Hidden behind "More" until it is used. */
  readonly isRare?: boolean
}

interface FiltersProps {
  readonly path: string
  readonly fields: readonly Field[]
  readonly given: Readonly<Record<string, string>>
  /** What stays in the address besides the fields. */
  readonly keep?: Readonly<Record<string, string>>
}

/** What to look for. It is kept in the address, so that it can be passed on. */
export function Filters({ path, fields, given, keep = {} }: FiltersProps) {
  const [showsRare, setShowsRare] = useState(false)
  const isShown = ({ name, isRare }: Field): boolean => !isRare || showsRare || given[name] !== undefined
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const query: Record<string, string> = { ...keep }
    for (const { name, kind } of fields) {
      const value = String(data.get(name) ?? given[name] ?? '').trim()
      if (value !== '') query[name] = kind === 'time' ? new Date(value).toISOString() : value
    }
    go(path, query)
  }
  // Another address brings other values; the inputs themselves are never controlled.
  return (
    <search>
      <form class="filters" onSubmit={submit} key={JSON.stringify(given)}>
        {fields.filter(isShown).map((field) => (
          <label key={field.name} for={`filter-${field.name}`}>
            <span>{field.label}</span>
            <Input field={field} value={given[field.name] ?? ''} />
          </label>
        ))}
        <div class="filter-buttons">
          <button type="submit" class="primary">
            Find
          </button>
          {fields.some(({ isRare }) => isRare) && !showsRare && (
            <button type="button" onClick={() => setShowsRare(true)}>
              More
            </button>
          )}
          {Object.keys(given).length > 0 && (
            <button type="button" onClick={() => go(path, keep)}>
              Clear
            </button>
          )}
        </div>
      </form>
    </search>
  )
}

function Input({ field: { name, hint, choices, kind }, value }: { readonly field: Field; readonly value: string }) {
  if (choices !== undefined) {
    return (
      <select id={`filter-${name}`} name={name} defaultValue={value}>
        <option value="">any</option>
        {choices.map((choice) => (
          <option key={choice} value={choice} selected={choice === value}>
            {choice}
          </option>
        ))}
      </select>
    )
  }
  if (kind === 'time')
    return <input id={`filter-${name}`} type="datetime-local" name={name} defaultValue={localTime(value)} />
  return (
    <input
      id={`filter-${name}`}
      type="text"
      name={name}
      defaultValue={value}
      placeholder={hint}
      spellcheck={false}
      autocomplete="off"
    />
  )
}

function localTime(value: string): string {
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
