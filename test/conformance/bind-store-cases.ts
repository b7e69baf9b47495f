import {
  engineCases,
  runStoreCase,
  type StoreCase,
  type StoreCaseContext,
  storeCases,
} from '../../src/testing/index.ts'
import { bindCases, type Skip } from './bind-cases.ts'

export interface BindOptions<Tx> {
  /** A fresh, installed and empty database; called once for every case. */
  open(): Promise<StoreCaseContext<Tx>>
  readonly skip?: readonly Skip[]
  readonly cases?: readonly StoreCase[]
}

/** The cases of the store alone and those of the engine on it. */
const allCases = [...storeCases, ...engineCases]

export function bindStoreCases<Tx>(driver: string, { open, skip = [], cases = allCases }: BindOptions<Tx>): void {
  bindCases(driver, { cases, skip, run: (each) => runStoreCase(each, open) })
}
