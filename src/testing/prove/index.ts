export type { Difference } from './compare.ts'
export type { FailureName } from './failure-names.ts'
export type { TimelineEntry } from './journal.ts'
export type { Progress, ProveOptions } from './options.ts'
export type {
  Failure,
  OrderDifferences,
  OverallCheck,
  Proof,
  ProofJson,
  ProofRow,
  ProofTable,
  Verdict,
} from './proof.ts'
export { prove } from './prove.ts'
export type { OpenedStore, ScratchCopy, ScratchDatabase, ScratchPlace, ScratchTemplate } from './scratch.ts'
export { type ScratchMysqlOptions, scratchMysql } from './scratch-mysql.ts'
export { type ScratchPostgresOptions, scratchPostgres } from './scratch-postgres.ts'
export { scratchSqlite } from './scratch-sqlite.ts'
export type { MessageFault, Step, StepFault } from './steps.ts'
export type { Cell, Row, TableFact, TableFacts, Tables } from './tables.ts'
