import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'

/** What can be watched, and what its number means. */
export const alertConditions = {
  'dead-letters': 'how many dead letters there are',
  'duplicate-rate': 'which share of what was handled in the last 5 minutes were duplicates, from 0 to 1',
  'failure-rate': 'which share of the attempts of the last 5 minutes failed, from 0 to 1',
  lag: 'how many milliseconds the oldest message has been in a queue of the store',
  'broker-lag': 'how many messages wait at the broker that has the most',
  'unknown-intents': 'how many intents wait for a person',
  'oldest-waiting': 'how many milliseconds a message has waited for another attempt, the one that has waited longest',
  'outgoing-stuck': 'how many milliseconds the oldest published message has waited to be sent',
  'processes-missing': 'how many processes of the app are missing of the number given as least',
} as const

/** What an alert rule can watch. */
export type AlertCondition = keyof typeof alertConditions

/** What somebody is told. `id` is the same if the same notice has to be given again, because nobody knows whether it was. */
export interface AlertNotice {
  readonly id: string
  readonly state: 'firing' | 'resolved'
  readonly rule: string
  readonly when: AlertCondition
  readonly value: number
  readonly over: number
  /** The name of the app that has the rule. */
  readonly app: string | undefined
  /** When it began to be over the limit, and when it fired or was resolved, by the database's clock. */
  readonly since: Date
  readonly at: Date
  /** All of it in one line. */
  readonly text: string
}

/** A rule that notifies somebody: what is watched, from which value on, and who hears of it. */
export interface AlertOptions {
  /** Names the rule in its notices. Default: the condition. Two rules of an app need different names. */
  readonly name?: string
  /** What is watched: `dead-letters`, `duplicate-rate`, `failure-rate`, `lag`, `broker-lag`, `unknown-intents`, `oldest-waiting`, `outgoing-stuck` or `processes-missing`. */
  readonly when: AlertCondition
  /** It fires when the number is larger than this. A count, a share from 0 to 1, or milliseconds. */
  readonly over: number
  /** How long it must be over the limit before it fires, and no longer over it before it is resolved. Default: 0. */
  readonly forMs?: number
  /** For `processes-missing`: how many processes of this app there should be. */
  readonly least?: number
  /**
   * Who is told, once when it fires and once when it is resolved: `'log'` is the event `alert`, which is printed if nobody listens; a
   * function; or a webhook, to which the notice is sent as JSON by an intent. A function that fails, or takes longer than 10 s, is
   * called again, five times at most.
   */
  readonly notify:
    | 'log'
    | ((notice: AlertNotice) => unknown)
    | { readonly webhook: string | URL; readonly headers?: Readonly<Record<string, string>> }
}

export interface AlertRule extends Required<Omit<AlertOptions, 'least'>> {
  readonly least: number
}

export function decideAlerts(given: readonly AlertOptions[] | undefined): readonly AlertRule[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) throw invalid('alerts is not a list of rules.')
  const rules = given.map(decideAlert)
  const names = rules.map(({ name }) => name)
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice !== undefined)
    throw invalid(`Two alerts are called ${JSON.stringify(twice)}: give one of them another name.`)
  return rules
}

function decideAlert(given: AlertOptions): AlertRule {
  checkOptions(given, ['name', 'when', 'over', 'forMs', 'least', 'notify'], 'An alert')
  const { when, over, forMs = 0, least = 1, notify, name = when } = given
  checkChoice(when, 'when of an alert', Object.keys(alertConditions) as AlertCondition[])
  const of = `of the alert ${name}`
  if (typeof name !== 'string' || !/^[\x21-\x7e](?:[\x20-\x7e]{0,78}[\x21-\x7e])?$/.test(name))
    throw invalid(`name ${of} needs 1 to 80 printable characters.`)
  checkNumber(over, `over ${of}`, 0)
  if (when.endsWith('-rate') && over >= 1) throw invalid(`over ${of} is ${over}, but a share is never more than 1.`)
  checkNumber(forMs, `forMs ${of}`, 0, 7 * 86_400_000)
  checkNumber(least, `least ${of}`, 1)
  if (notify === 'log') return { name, when, over, forMs, least, notify }
  if (typeof notify !== 'object' || notify === null) checkFunction(notify, `notify ${of}`)
  else {
    checkOptions(notify, ['webhook', 'headers'], `notify ${of}`)
    if (!URL.canParse(String(notify.webhook))) throw invalid(`webhook ${of} is not a URL.`)
  }
  return { name, when, over, forMs, least, notify }
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
