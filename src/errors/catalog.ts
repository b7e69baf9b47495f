import { appCatalog } from './app-catalog.ts'
import { brokerCatalog } from './broker-catalog.ts'
import { durabilityCatalog } from './durability-catalog.ts'
import { handlerCatalog } from './handler-catalog.ts'
import { intentCatalog } from './intent-catalog.ts'
import { messageCatalog } from './message-catalog.ts'
import { operatorCatalog } from './operator-catalog.ts'
import { storeCatalog } from './store-catalog.ts'
import { transactionCatalog } from './transaction-catalog.ts'

/** Every code, what it means and what to do about it. Messages and docs/reference/errors.md are generated from here. */
export const catalog = {
  ...messageCatalog,
  ...handlerCatalog,
  ...transactionCatalog,
  ...storeCatalog,
  ...appCatalog,
  ...brokerCatalog,
  ...durabilityCatalog,
  ...intentCatalog,
  ...operatorCatalog,
} as const satisfies Record<string, { title: string; fix: string }>

/** The code of a `JustonceError`. Each of them has a section in the list of errors. */
export type ErrorCode = keyof typeof catalog
