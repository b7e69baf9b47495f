import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { NativeQuery, QueryClass } from './native-query.ts'
import { QueryGroup } from './query-group.ts'

const wire = { submittedNamedStatements: {}, parsedStatements: {}, stream: { write: () => true } }

/** What a query object of `pg` does with what it is told. */
class Query extends EventEmitter implements NativeQuery {
  name: string | undefined
  readonly text: string
  readonly told: string[] = []
  refusal: Error | null = null

  constructor(text: string) {
    super()
    this.text = text
  }

  requiresPreparation = () => true
  submit = () => this.refusal
  handleRowDescription = () => void this.told.push('row description')
  handleDataRow = () => void this.told.push('row')
  handleCommandComplete = () => void this.told.push('complete')
  handleEmptyQuery = () => void this.told.push('empty')
  handleReadyForQuery = () => void this.told.push('ready')
  handleError = (error: unknown) => void this.told.push((error as Error).message)
}

function submitted(queries: readonly Query[]): NativeQuery {
  const group = new QueryGroup(queries, {}).asQueryOf(Query as unknown as QueryClass)
  expect(group).toBeInstanceOf(Query)
  expect(group.submit(wire)).toBeNull()
  return group
}

test('each gets its own answers as they come; the last one waits until the client is ready for other queries', () => {
  const queries = [new Query('a'), new Query('b')] as const
  const group = submitted(queries)
  group.handleRowDescription({})
  group.handleDataRow({})
  group.handleCommandComplete({}, wire)
  expect(queries.map(({ told }) => told)).toEqual([['row description', 'row', 'complete', 'ready'], []])
  group.handleCommandComplete({}, wire)
  expect(queries[1].told).toEqual(['complete'])
  group.handleReadyForQuery(wire)
  expect(queries[1].told).toEqual(['complete', 'ready'])
})

test('its name and text are those of the statement that the server is at', () => {
  const queries = [Object.assign(new Query('a'), { name: 'one' }), new Query('b')]
  const group = submitted(queries)
  expect([group.name, group.text]).toEqual(['one', 'a'])
  group.handleEmptyQuery(wire)
  expect([group.name, group.text]).toEqual(['', 'b'])
})

test('one that pg refuses to send has failed, and the others go', async () => {
  const refused = Object.assign(new Query('a'), { refusal: new Error('refused') })
  const other = new Query('b')
  const group = submitted([refused, other])
  await new Promise(process.nextTick)
  group.handleCommandComplete({}, wire)
  group.handleReadyForQuery(wire)
  expect([refused.told, other.told]).toEqual([['refused'], ['complete', 'ready']])
})

test('a connection that is lost is an error of all that have no answer', () => {
  const queries = [new Query('a'), new Query('b'), new Query('c')]
  const group = submitted(queries)
  group.handleCommandComplete({}, wire)
  group.handleError(new Error('lost'), wire)
  expect(queries.map(({ told }) => told)).toEqual([['complete', 'ready'], ['lost'], ['lost']])
})

test('it says itself when it has ended, as the time limit of pg expects', () => {
  const ends: unknown[] = []
  for (const end of ['ready', 'failed']) {
    const group = submitted([new Query('a')])
    group.callback = (error) => ends.push((error as Error | null)?.message)
    if (end === 'ready') group.handleReadyForQuery(wire)
    else group.handleError(new Error('failed'), wire)
  }
  expect(ends).toEqual([undefined, 'failed'])
})

test('a connection that is lost before any was sent is an error of all', () => {
  const queries = [new Query('a'), new Query('b')]
  const group = new QueryGroup(queries, {}).asQueryOf(Query as unknown as QueryClass)
  group.handleError(new Error('lost'), wire)
  expect(queries.map(({ told }) => told)).toEqual([['lost'], ['lost']])
})

test('a connection that is lost before the client is ready is an error of the last one, and then of none', () => {
  const queries = [new Query('a'), new Query('b')]
  const group = submitted(queries)
  group.handleCommandComplete({}, wire)
  group.handleCommandComplete({}, wire)
  group.handleError(new Error('lost'), wire)
  group.handleError(new Error('lost'), wire)
  expect(queries.map(({ told }) => told)).toEqual([
    ['complete', 'ready'],
    ['complete', 'lost'],
  ])
})

test.each([
  ['shut down', '57P01'],
  // `transaction_timeout`.
  ['too long', '25P04'],
])('a server that ends the session (%s) has failed all, and not only the one that it was at', (message, code) => {
  const queries = [new Query('a'), new Query('b')]
  const group = submitted(queries)
  group.handleError(Object.assign(new Error(message), { severity: 'FATAL', code }), wire)
  expect(queries.map(({ told }) => told)).toEqual([[message], [message]])
})

test('a tool that rewrites the text of a query cannot change under which text pg files a name', () => {
  const group = submitted([
    Object.assign(new Query('a'), { name: 'one' }),
    Object.assign(new Query('b'), { name: 'two' }),
  ])
  const text = Object.getOwnPropertyDescriptor(group, 'text')
  if (text?.configurable) Object.defineProperty(group, 'text', { get: () => '/* traced */ a' })
  group.handleCommandComplete({}, wire)
  expect([group.name, group.text]).toEqual(['two', 'b'])
})
