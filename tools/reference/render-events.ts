interface EventKind {
  readonly kind: string
  readonly fields: string
  readonly text: string
}

/** The kinds of a union of events, each with the comment above it. */
export function eventKinds(declaration: string): EventKind[] {
  const kinds: EventKind[] = []
  let comment: string[] = []
  let body: string[] | undefined
  const end = () => {
    if (body === undefined) return
    const text = body.join('\n')
    const kind = /kind: '([^']+)'/.exec(text)?.[1]
    if (kind !== undefined) kinds.push({ kind, fields: fieldsIn(text), text: prose(comment) })
    body = undefined
    comment = []
  }
  for (const line of declaration.split('\n').slice(1)) {
    if (/^ {2}\/\*\*|^ {3}\*/.test(line)) {
      end()
      comment.push(line)
    } else if (/^ {2}\| /.test(line)) {
      end()
      body = [line]
    } else body?.push(line)
  }
  end()
  return kinds
}

export function renderEventsPage(declaration: string, note: string): string {
  const rows = eventKinds(declaration).map(
    ({ kind, fields, text }) => `| \`${kind}\` | ${fields} | ${text.replaceAll('|', '\\|')} |`,
  )
  return [
    '# Events',
    '',
    note,
    '',
    'What happens is reported as it happens. `app.events.listen()` hears everything; with nobody listening, what an operator should know is',
    'printed to the console. [`logEvents()`](api/justonce.md#logevents) writes events to a logger with levels,',
    '[`prometheusText()`](api/metrics.md#prometheustext) counts them, and [`openTelemetry()`](api/opentelemetry.md#opentelemetry) traces.',
    '',
    '```ts',
    "import { justonce } from 'justonce'",
    "import { memoryStore, memoryTransport } from 'justonce/memory'",
    '',
    'const app = justonce({ store: memoryStore(), transport: memoryTransport() })',
    'const end = app.events.listen((event) => {',
    "  if (event.kind === 'duplicate') console.log('skipped', event.messageId, 'for', event.handler)",
    "  if (event.kind === 'parked' && event.state === 'dead') console.error(event.handler, event.error)",
    '})',
    'end() // stops listening',
    '```',
    '',
    'A listener that throws is ignored. The type is [`JustonceEvent`](api/justonce.md#type-justonceevent).',
    '',
    '| kind | what it carries | when |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function fieldsIn(text: string): string {
  const names = [...text.matchAll(/readonly (\w+)(\??):/g)].filter(([, name]) => name !== 'kind')
  return names.map(([, name, optional]) => `\`${name}${optional}\``).join(', ')
}

function prose(comment: readonly string[]): string {
  return comment
    .map((line) => line.replace(/^\s*(?:\/\*\*|\*\/|\*) ?/, '').replace(/ ?\*\/$/, ''))
    .join(' ')
    .trim()
}
