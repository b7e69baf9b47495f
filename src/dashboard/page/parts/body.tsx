import { diffLines } from '../diff.ts'
import { inOrder, jsonText } from '../format.ts'
import type { ShownBody } from '../wire.ts'

/** A body as text. Nothing in it is ever more than text. */
export function Body({ body }: { readonly body: ShownBody }) {
  if (body.is === 'hidden') return <p class="muted">You may not see bodies.</p>
  if (body.is === 'bytes')
    return (
      <>
        <p class="muted">Bytes that are no text, in base64:</p>
        <pre class="body">{body.base64}</pre>
      </>
    )
  return (
    <>
      {body.is === 'redacted' && <p class="muted">Parts of it are not shown.</p>}
      <pre class="body">
        <code>{jsonText(body.value)}</code>
      </pre>
    </>
  )
}

const signs = { same: ' ', removed: '−', added: '+' } as const

export function Diff({ before, after }: { readonly before: string; readonly after: string }) {
  if (before === after) return <p class="muted">Nothing is changed yet.</p>
  return (
    <pre class="body diff">
      {diffLines(before, after).map(({ is, text }, place) => (
        <div key={place} class={is}>
          <span aria-hidden="true">{signs[is]} </span>
          {text}
        </div>
      ))}
    </pre>
  )
}

export function HeaderList({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const entries = Object.entries(headers)
  if (entries.length === 0) return <p class="muted">No headers.</p>
  return (
    <dl class="headers">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{inOrder(name)}</dt>
          <dd>{inOrder(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
