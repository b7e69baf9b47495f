import type { PackedMessage, Store } from '../../contracts/index.ts'
import { effectOf } from '../../encoding/intent-name.ts'
import { unpackMessage } from '../../encoding/packed-message.ts'
import type { Journal } from './journal.ts'
import { isNeighbour } from './neighbour.ts'
import type { UntypedOptions } from './options.ts'
import type { ScratchCopy } from './scratch.ts'
import { asRow, asTables, type Row, type Tables } from './tables.ts'

/** The result of a run: the user's tables, or what `observe` returns, the published messages and the intended calls. */
export async function readEffect<S extends Store>(
  { observe }: UntypedOptions<S>,
  copy: ScratchCopy<S>,
  store: S,
  { used }: Journal,
): Promise<Tables> {
  const tables = observe === undefined ? await copy.tables() : asTables(await copy.use(observe))
  return new Map([
    ...tables,
    ['published messages', used.publishing ? await publishedMessages(store) : []],
    ['intended calls', used.intending ? await intendedCalls(store) : []],
    ['parked messages', used.parking ? await parkedMessages(store) : []],
  ])
}

const decoder = new TextDecoder()

/** Leaves out the ids, which differ in every attempt: only those of the attempt that commits are ever sent. */
async function publishedMessages(store: Store): Promise<readonly Row[]> {
  const { queue } = store
  const names = (await queue?.queues())?.filter((name) => name.startsWith('>')) ?? []
  const taken = await Promise.all(names.map((name) => queue?.take(name, { limit: 10_000, visibilityMs: 1 }) ?? []))
  const delayed = await store.parking.list({ kind: 'delayed' })
  return [
    ...taken.flat().map(({ message }) => rowOf(message)),
    // When it leaves depends on when it was stored.
    ...delayed.map(({ message }) => ({ ...rowOf(message), leaves: 'later' })),
  ]
}

function rowOf(message: PackedMessage): Row {
  const { type, key, headers, body } = unpackMessage(message)
  return asRow({ type, ...(key !== undefined && { key }), headers, body: decoder.decode(body) })
}

/** Without the idempotency keys, which differ in every attempt like the ids of messages. */
async function intendedCalls(store: Store): Promise<readonly Row[]> {
  const intents = await store.parking.list({ kind: 'intent' }, { limit: 10_000 })
  return intents.map(({ handler, message }) => {
    const { key, body } = unpackMessage(message)
    return asRow({ effect: effectOf(handler), ...(key !== undefined && { key }), payload: decoder.decode(body) })
  })
}

/** After all retries, nothing should be left here except the neighbours, which always fail. */
async function parkedMessages(store: Store): Promise<readonly Row[]> {
  const parked = await store.parking.list()
  return parked
    .filter(({ key }) => !isNeighbour(key))
    .map(({ handler, key, reason, state }) => ({ handler, key, reason, state }))
}
