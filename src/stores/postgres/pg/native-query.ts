import type { EventEmitter } from 'node:events'
import type { PgClientShape } from '../client-shapes.ts'

/** A query object of `pg`, as far as the store makes and groups them. */
export interface NativeQuery extends EventEmitter {
  name: string | undefined
  readonly text: string
  values?: readonly unknown[] | undefined
  readonly _result?: { _types?: unknown }
  callback?: (error: unknown, result?: unknown) => void
  requiresPreparation(): boolean
  submit(wire: unknown): Error | null
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, wire: unknown): void
  handleEmptyQuery(wire: unknown): void
  handleReadyForQuery(wire: unknown): void
  handleError(error: unknown, wire: unknown): void
}

export type QueryClass = new (text: string, values: unknown) => NativeQuery

/** `undefined` for a client behind another loan, one with promises of its own, and pg-native: they have no such queries, or would take them for cursors. */
export function queryClassOf(client: PgClientShape, native: object): QueryClass | undefined {
  const { Query } = native.constructor as { readonly Query?: QueryClass }
  const { _Promise: promise, connection } = native as { readonly _Promise?: unknown; readonly connection?: unknown }
  const isUsual = client === native && promise === Promise && typeof connection === 'object'
  return isUsual && typeof Query === 'function' ? Query : undefined
}
