import type { ComponentChildren } from 'preact'
import { ago, clock, inOrder } from '../format.ts'
import { link } from '../route.ts'

/** A time as a distance from now; the exact one is in its title. */
export function Time({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <span class="muted">–</span>
  return (
    <time dateTime={at} title={clock(at)}>
      {ago(at)}
    </time>
  )
}

const tones: Readonly<Record<string, string>> = {
  running: 'info',
  waiting: 'warn',
  pending: 'info',
  queued: 'info',
  outgoing: 'info',
  delayed: 'info',
  refused: 'bad',
  unknown: 'bad',
  'given-up': 'bad',
  dead: 'bad',
  processed: 'ok',
  finished: 'ok',
  stopped: 'warn',
  firing: 'bad',
  calming: 'warn',
  paused: 'warn',
}

/** A state in its own word; its colour only repeats it. */
export function State({ is, tone = tones[is] ?? 'plain' }: { readonly is: string; readonly tone?: string }) {
  return <span class={`state ${tone}`}>{is}</span>
}

/** Text of unknown length that came with a message: cut at the edge, whole in its title. */
export function Code({ text, href }: { readonly text: string | undefined; readonly href?: string }) {
  if (text === undefined || text === '') return <span class="muted">–</span>
  const code = (
    <code class="cut" title={inOrder(text)}>
      {inOrder(text)}
    </code>
  )
  return href === undefined ? code : <a href={href}>{code}</a>
}

export function MessageLink({ id, shown = id }: { readonly id: string; readonly shown?: string }) {
  return <Code text={shown} href={link('message', { id })} />
}

/** The first line of an error: the others say where it was thrown. */
export function ErrorText({ text }: { readonly text: string | undefined }) {
  if (text === undefined || text === '') return <span class="muted">–</span>
  return (
    <span class="error-text" title={inOrder(text)}>
      {inOrder(text).split('\n', 1)[0]}
    </span>
  )
}

/** An error with everything that it says, the rest of it when it is asked for. */
export function Said({ text }: { readonly text: string }) {
  const [first = '', ...rest] = inOrder(text).split('\n')
  return (
    <>
      <pre class="said">{first}</pre>
      {rest.length > 0 && (
        <details>
          <summary>where it was thrown</summary>
          <pre class="said">{rest.join('\n')}</pre>
        </details>
      )}
    </>
  )
}

export function Trouble({ error }: { readonly error: { readonly message: string } | undefined }) {
  if (error === undefined) return null
  return (
    <p class="trouble" role="alert">
      {error.message}
    </p>
  )
}

export function Panel(props: {
  readonly title: ComponentChildren
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section class="panel">
      <header>
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  )
}

export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const known = of.filter(([, value]) => value !== undefined && value !== null && value !== false)
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
