import type { Choice } from './decisions.ts'
import { effectOf, nameOfEffect } from './effect-code.ts'
import { registration } from './handler-code.ts'
import { joined } from './join-imports.ts'
import { isOfUse } from './load.ts'
import { destinations, type Piece, sources, stores } from './pieces.ts'
import { workOf } from './work-code.ts'

/** A program for this choice: complete, but for tables and addresses. */
export function snippetFor(choice: Choice): string {
  const { database, broker, load } = choice
  const isHot = load === 'duplicates' && isOfUse(choice)
  const publishes = choice.effect === 'services'
  // Redis keeps no positions.
  const source = sources[broker === 'kafka-positions' && database === 'redis' ? 'kafka' : broker]
  const destination: Piece = publishes ? destinations[broker] : { lines: [] }
  const effect = nameOfEffect(choice)
  // Where nothing is received, sent or called, there is nothing to start.
  const isStarted = broker !== 'none' || publishes || effect !== undefined
  const pieces = [stores[database], source, destination, workOf(choice), effectOf(choice)]
  const types = [
    ...(broker === 'none' ? [] : ["'order.paid': { order: string; at: number }"]),
    ...(publishes ? ["'order.booked': { order: string }"] : []),
  ]
  const imports = [
    `import { justonce${types.length === 0 ? '' : ', messages'} } from 'justonce'`,
    ...pieces.flatMap((piece) => piece.imports ?? []),
    ...(isHot ? ["import { hotSide } from 'justonce/hints'", "import { createClient } from 'redis'"] : []),
  ]
  const given = [
    'store',
    ...(broker === 'none' ? [] : ['from']),
    ...(publishes ? ['to'] : []),
    ...(types.length === 0 ? [] : [`messages: messages<{ ${types.join('; ')} }>()`]),
    ...(effect === undefined ? [] : [`effects: effects<{ '${effect}': { order: string } }>()`]),
    ...(isHot ? ['hints: hotSide({ client: await createClient({ disableOfflineQueue: true }).connect() })'] : []),
  ]
  return [
    ...joined(imports),
    '',
    ...stores[database].lines,
    ...source.lines,
    ...destination.lines,
    'const app = justonce({',
    ...given.map((line) => `  ${line},`),
    '})',
    '',
    ...effectOf(choice).lines,
    ...(broker === 'none' ? [isStarted ? 'await app.start()' : 'await store.schema.install()'] : []),
    ...registration(choice),
    ...(broker === 'none' ? [] : ['await app.start()']),
    ...(broker === 'webhooks' ? ['createServer(from.nodeHandler).listen(3000)'] : []),
    '',
  ].join('\n')
}
