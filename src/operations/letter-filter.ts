import type { ParkedFilter, ParkedMessage } from '../contracts/index.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { checkOptions, JustonceError } from '../errors/index.ts'
import type { LetterFilter, LetterGroup } from './types.ts'

const texts = [
  'handler',
  'type',
  'reason',
  'errorText',
  'key',
  'messageId',
  'businessId',
  'orderKey',
  'source',
] as const
const dates = ['since', 'before'] as const
const known = [...texts, ...dates, 'group']

/** Checks an operator's filter and converts it to one that stores understand. */
export function decideFilter(filter: LetterFilter, state: ParkedMessage['state']): ParkedFilter {
  checkOptions(filter, known, state === 'dead' ? 'A filter of dead letters' : 'A filter of waiting retries')
  for (const name of texts) if (filter[name] !== undefined) checkText(filter[name], `${name} of the filter`)
  for (const name of dates) if (filter[name] !== undefined) checkDate(filter[name], `${name} of the filter`)
  const { group, ...given } = filter
  // As rows keep it.
  const rest = { ...given, ...(given.businessId !== undefined && { businessId: fittedText(given.businessId) }) }
  if (group === undefined) return { ...rest, state }
  checkGroup(group)
  for (const name of ['handler', 'reason'] as const) {
    if (rest[name] !== undefined && rest[name] !== group[name]) {
      throw new JustonceError('OPTION_INVALID', {
        message: `The filter asks for ${name} ${JSON.stringify(rest[name])} and a group whose ${name} is ${JSON.stringify(group[name])}: nothing can match both.`,
      })
    }
  }
  const { handler, reason, shape } = group
  return { ...rest, state, handler, reason, shape }
}

/** Whether no field is set: such a filter would match everything, which is rarely what was meant. */
export function saysNothing(filter: LetterFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

export function checkGroup(group: LetterGroup): void {
  // Groups come from lists, so they may have counts and notes besides these fields.
  if (typeof group !== 'object' || group === null) {
    throw new JustonceError('OPTION_INVALID', {
      message: `The group is ${String(group)}, not { handler, reason, shape }.`,
    })
  }
  for (const name of ['handler', 'reason', 'shape'] as const) checkText(group[name], `${name} of the group`)
}

/** Requires text that every store can search for. */
export function checkText(value: unknown, name: string): void {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value)
  throw new JustonceError('OPTION_INVALID', { message: `${name} is ${shown}, which cannot be stored as text.` })
}

export function checkDate(value: unknown, name: string): void {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return
  throw new JustonceError('OPTION_INVALID', { message: `${name} is ${String(value)}, not a date.` })
}
