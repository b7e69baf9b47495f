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
  readonly cases?: readonly TransportCase[]
}

export function bindTransportCases(driver: string, options: BindTransportOptions): void {
  const { open, skip = [], cases = transportCases } = options
  bindCases(driver, { cases, skip, run: (each) => runTransportCase(each, open) })
}
