export type { EffectEnd, EffectPromise, EffectProof, EffectProofRow } from './effect-proof.ts'
export type { EffectFault } from './faults.ts'
export { type ProveEffectOptions, proveEffect } from './prove-effect.ts'
