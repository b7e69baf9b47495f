export { type Applied, applyEntry } from './apply-entry.ts'
export { deleteOnce, type SoftDeleted, type SoftDeleteOptions, softDelete } from './delete-once.ts'
export { type InsertedMany, insertManyOnce } from './insert-many-once.ts'
export { type InsertedOnce, insertOnce, type UniqueOptions } from './insert-once.ts'
export type { BookColumns, Books, Entry } from './ledger.ts'
export { type Recorded, recordEntry, settleEntries } from './settle-entries.ts'
export {
  above,
  add,
  atLeast,
  atMost,
  below,
  type Changes,
  not,
  oneOf,
  type Table,
  type Where,
} from './sql/conditions.ts'
export type { Amount } from './sql/exact-number.ts'
export { type CustomRunner, type Row, sqlRunner } from './sql/runner.ts'
export { type Moved, release, reserve, type StockOptions, take } from './stock.ts'
export { type TransferOptions, transfer } from './transfer.ts'
export { type StateMachine, stateMachine, type Transition, type TransitionOptions, transition } from './transition.ts'
export {
  type UpdatedIf,
  type UpdatedVersioned,
  type UpdateIfOptions,
  type UpdateVersionedOptions,
  updateIf,
  updateVersioned,
  type Version,
} from './update-if.ts'
export { type UpsertedLatest, type UpsertLatestOptions, type UpsertOptions, upsert, upsertLatest } from './upsert.ts'
