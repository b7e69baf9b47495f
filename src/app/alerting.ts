import { hash } from 'node:crypto'
import { type AlerterParts, type AlertRule, measure } from '../alerts/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { EffectOptions } from '../intents/effect.ts'
import { httpEffect } from '../intents/http-effect.ts'
import type { Operations } from '../operations/index.ts'
import { intendWithin } from './intending.ts'

/** Another app on the same database may have a rule of the same name with another webhook. */
function effectOf(app: string | undefined, { name, notify }: AlertRule): string {
  const { webhook } = notify as { readonly webhook: string | URL }
  return `alert ${name} ${hash('sha256', JSON.stringify([app ?? null, String(webhook)]), 'base64url').slice(0, 10)}`
}

/** The effects that call the webhooks of the rules. */
export function webhookEffects(
  app: string | undefined,
  rules: readonly AlertRule[],
): readonly (readonly [name: string, options: EffectOptions])[] {
  return rules.flatMap((rule) => {
    if (typeof rule.notify !== 'object') return []
    const { webhook, headers = {} } = rule.notify
    // Somebody must be told: a request whose answer was lost is sent again, with the same key.
    const effect = httpEffect({ url: webhook, headers, keyed: true, timeoutMs: 10_000 })
    return [[effectOf(app, rule), effect as EffectOptions] as const]
  })
}

/** What the alerts of an app need of it. */
export function alertParts(
  engine: Engine<unknown>,
  operations: Operations,
  app: string | undefined,
  rules: readonly AlertRule[],
): Omit<AlerterParts, 'gate'> {
  const { store, clock, events } = engine
  return {
    ...{ store, clock, events, app, rules },
    measure: (now) => measure({ ...operations, app }, rules, now),
    async intend(tx, rule, notice) {
      await intendWithin(engine, effectOf(app, rule), notice, { tx, key: notice.id })
    },
  }
}
