export {
  type CrashPoint,
  crashingStore,
  crashingTransport,
  crashPoints,
  type Die,
  type ReachedPoint,
} from './crash-points.ts'
export { engineCases } from './engine-cases.ts'
export { type FakeClock, type FakeClockOptions, fakeClock } from './fake-clock.ts'
export {
  type Failure,
  type FailureName,
  type Progress,
  type Proof,
  type ProofJson,
  type ProofTable,
  type ProveOptions,
  prove,
  type ScratchCopy,
  type ScratchDatabase,
  type ScratchMysqlOptions,
  type ScratchPlace,
  type ScratchPostgresOptions,
  type ScratchTemplate,
  scratchMysql,
  scratchPostgres,
  scratchSqlite,
} from './prove/index.ts'
export {
  type EffectEnd,
  type EffectFault,
  type EffectPromise,
  type EffectProof,
  type EffectProofRow,
  type ProveEffectOptions,
  proveEffect,
} from './prove-effect/index.ts'
export { type CaseOutcome, runStoreCase } from './run-store-case.ts'
export { runTransportCase } from './run-transport-case.ts'
export type { CaseNeed, DeclaredNeed, Effects, StoreCase, StoreCaseContext } from './store-case.ts'
export { storeCases } from './store-cases.ts'
export type { TransportCase, TransportCaseContext, TransportNeed } from './transport-case.ts'
export { transportCases } from './transport-cases.ts'
