import type { RecordKey } from '../../contracts/index.ts'

/** Puts a value into a statement and returns how the text refers to it. In the order of the text, because SQLite counts its `?`. */
export type Place = (value: string | number | Date | Uint8Array) => string

/** How one database writes what all of them are asked in the same words. What locks or waits is written for each by hand. */
export interface Dialect {
  /** The database's clock, in the form in which columns keep times. */
  readonly now: string
  /** The function that finds its second text in its first. */
  readonly find: string
  /** A column whose name is a word of some database. */
  name(column: string): string
  /** A time, selected in milliseconds since 1970. */
  inMs(time: string): string
  /** A column of bytes, selected in the form that `bytesIn` reads. */
  inBytes(column: string): string
  /** A condition that finds these rows by their index. */
  isOneOf(keys: readonly RecordKey[], place: Place): string
}
