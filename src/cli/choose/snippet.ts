import type { Choice } from './decisions.ts'
import { effectOf, isCall, registration, workOf } from './handler-code.ts'
import { joined } from './join-imports.ts'
import { sources, stores } from './pieces.ts'

/** A program for this choice: complete, but for tables and addresses. */
export function snippetFor(choice: Choice): string {
  const { database, broker, load } = choice
  const hot = load === 'duplicates' && database !== 'redis'
  const pieces = [stores[database], sources[broker], workOf(choice), effectOf(choice)]
  const imports = [
    `import { justonce${broker === 'none' ? '' : ', messages'} } from 'justonce'`,
    ...pieces.flatMap((piece) => piece.imports ?? []),
    ...(hot ? ["import { hotSide } from 'justonce/hints'", "import { createClient } from 'redis'"] : []),
  ]
  const given = [
    'store',
    ...(broker === 'none' ? [] : ['from', "messages: messages<{ 'order.paid': { order: string; at: number } }>()"]),
    ...(isCall(choice) ? ["effects: effects<{ 'receipt.send': { order: string } }>()"] : []),
    ...(hot ? ['hints: hotSide({ client: await createClient({ disableOfflineQueue: true }).connect() })'] : []),
  ]
  return [
    ...joined(imports),
    '',
    ...stores[database].lines,
    ...sources[broker].lines,
    'const app = justonce({',
    ...given.map((line) => `  ${line},`),
    '})',
    '',
    ...effectOf(choice).lines,
    ...(broker === 'none' ? ['await app.start()'] : []),
    ...registration(choice),
    ...(broker === 'none' ? [] : ['await app.start()']),
    ...(broker === 'webhooks' ? ['createServer(from.nodeHandler).listen(3000)'] : []),
    '',
  ].join('\n')
}
