import fc from 'fast-check'
import type { Row } from '../../src/patterns/index.ts'
import { tableName, whereOf } from '../../src/patterns/sql/conditions.ts'
import { sql } from '../../src/patterns/sql/fragment.ts'
import { runnerOf } from '../../src/patterns/sql/runner.ts'
import type { Step } from './linearize.ts'
import type { Place } from './places.ts'

/** Functions that work on the same rows, and what each of them would do alone. */
export interface Domain<State, Op> {
  readonly ops: fc.Arbitrary<Op>
  readonly from: State
  readonly step: Step<State, Op>
  /** Keys are different in each world. */
  open(at: Place['table'], world: number): Opened<State, Op>
}

export interface Opened<State, Op> {
  prepare(tx: unknown): Promise<void>
  call(tx: unknown, op: Op): Promise<unknown>
  state(tx: unknown): Promise<State>
}

export const small = (min: number, max: number) => fc.integer({ min, max })

/** Rows as they are: numbers instead of the texts that clients make of decimals. */
export async function rowsOf(tx: unknown, table: ReturnType<Place['table']>, where: Row): Promise<readonly Row[]> {
  return await runnerOf(tx).rows(sql`SELECT * FROM ${tableName(table)} WHERE ${whereOf(where)}`)
}
