import type { AfterJson } from '../contracts/index.ts'
import type { IntentDone, IntentFailed } from '../operations/index.ts'

/** The effects of an app and their payloads, as a value, so that everything else can be inferred. */
export interface EffectMap<Map extends object> {
  /** Only for the compiler. */
  readonly payloads?: Map
}

/**
 * Names the effects of an app and the types of their payloads.
 *
 * ```ts
 * const app = justonce({ store, effects: effects<{ 'email.welcome': { to: string } }>() })
 * ```
 */
export function effects<Map extends object>(): EffectMap<Map> {
  return {}
}

/** The messages about the outcomes of effects. */
export type OutcomeMessages<Effects extends object> = {
  [Name in keyof Effects & string as `intent.done:${Name}`]: IntentDone<AfterJson<Effects[Name]>>
} & {
  [Name in keyof Effects & string as `intent.failed:${Name}`]: IntentFailed<AfterJson<Effects[Name]>>
}
