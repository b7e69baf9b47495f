import { expect, test } from 'vitest'
import type { PgClientShape } from '../client-shapes.ts'
import { plainQueries } from './plain-query.ts'

class Query {
  readonly text: string
  readonly values: unknown
  name: string | undefined
  callback = (_error: unknown, _result?: unknown): void => {}

  constructor(text: string, values: unknown) {
    this.text = text
    this.values = values
  }
}

/** A client that answers every query object with itself, or fails. */
class Client {
  static readonly Query = Query
  readonly connection = {}
  readonly _Promise: unknown = Promise
  fails: Error | undefined

  query(query: Query): void {
    query.callback(this.fails ?? null, query)
  }
}

const sending = (native: object, client: object = native) => plainQueries(client as PgClientShape, native)

test('a plain configuration is sent as a query object that is made of its text', async () => {
  const send = sending(new Client())
  const sent = await send({ name: 'one', text: 'SELECT $1', values: [1] }, undefined)
  expect(sent).toBeInstanceOf(Query)
  expect(sent).toMatchObject({ name: 'one', text: 'SELECT $1', values: [1] })
  expect(await send({ text: 'SELECT $1', values: [1] }, [2])).toMatchObject({ name: undefined, values: [2] })
})

test('so is a text', async () => {
  expect(await sending(new Client())('SELECT $1', [1])).toMatchObject({
    name: undefined,
    text: 'SELECT $1',
    values: [1],
  })
})

test('it fails with the error of the query', async () => {
  const client = new Client()
  client.fails = new Error('on purpose')
  await expect(sending(client)({ text: 'SELECT 1' }, undefined)).rejects.toBe(client.fails)
})

test.each([
  ['one that says more', { text: 'SELECT 1', rowMode: 'array' }, undefined],
  ['one with a symbol', { text: 'SELECT 1', [Symbol('more')]: 1 }, undefined],
  ['one of a class', Object.create({ text: 'SELECT 1' }), undefined],
  ['one without a text', { name: 'one' }, undefined],
  ['a name that is none', { text: 'SELECT 1', name: 1 }, undefined],
  ['values that are no array', { text: 'SELECT 1' }, { length: 0 }],
  ['nothing', null, undefined],
])('%s is left to pg', (_, config, values) => {
  expect(sending(new Client())(config, values)).toBeUndefined()
})

test('so is everything for clients that are not the usual ones', () => {
  class Own extends Client {
    override readonly _Promise = class extends Promise<unknown> {}
  }
  const native = new Client()
  const clients = [
    sending(new Own()),
    sending(native, new Proxy(native, {})),
    sending({ _Promise: Promise, connection: {} }),
  ]
  expect(clients.map((send) => send({ text: 'SELECT 1' }, undefined))).toEqual([undefined, undefined, undefined])
})
