import {
  runTransportCase,
  type TransportCase,
  type TransportCaseContext,
  transportCases,
} from '../../src/testing/index.ts'
import { bindCases, type Skip } from './bind-cases.ts'

export interface BindTransportOptions {
  /** A fresh and empty queue; called once for every case. */
  open(): Promise<TransportCaseContext>
  readonly skip?: readonly Skip[]
  /** Several at a time, for drivers with which cases mostly wait. */
  readonly concurrent?: boolean
  readonly cases?: readonly TransportCase[]
}

export function bindTransportCases(driver: string, options: BindTransportOptions): void {
  const { open, skip = [], concurrent, cases = transportCases } = options
  bindCases(driver, { cases, skip, concurrent, run: (each) => runTransportCase(each, open) })
}
