import type { Message } from '../contracts/index.ts'
import type { BornScheme } from '../engine/handler.ts'
import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import { bornOfId, type TimedIds } from '../ids/index.ts'
import type { MaintainerOptions } from '../maintenance/maintainer.ts'

/** How the time of a message is read from its id: by a known kind of id, or by a named function. */
export type IdScheme = TimedIds | { readonly name: string; readonly born: (id: string) => Date | undefined }

/** For how long records are kept, and what happens to a message that is older than they are. */
export interface RetentionOptions {
  /** Records are kept for this many days after their message was made. A later copy is too old to know. */
  readonly days: number
  /** What happens to a message that is too old to know. Default: `dead-letter`. */
  readonly tooOld?: 'dead-letter' | 'skip'
  /** Also removes records of ids without a time. A copy that arrives after that runs again. */
  readonly timeless?: { readonly days: number; readonly iAcceptReruns: true }
}

const dayMs = 86_400_000

export function checkIds(ids: IdScheme | undefined): void {
  if (ids === undefined) return
  if (typeof ids === 'string') {
    checkChoice(ids, 'ids', ['uuidv7', 'ulid', 'ksuid'])
    return
  }
  checkOptions(ids, ['name', 'born'], 'ids')
  checkSchemeName(ids.name, 'ids.name')
  checkFunction(ids.born, 'ids.born')
}

export function checkSchemeName(name: unknown, what: string): void {
  if (typeof name === 'string' && /^[\x21-\x7e]{1,60}$/.test(name) && name !== 'none') return
  throw new JustonceError('OPTION_INVALID', { message: `${what} is ${JSON.stringify(name)}, not a name.` })
}

export const timelessIds: BornScheme = { name: 'none', of: () => undefined }

export function schemeOfIds(ids: IdScheme | undefined): BornScheme {
  if (ids === undefined) return timelessIds
  if (typeof ids === 'string') return { name: ids, of: ({ id }) => bornOfId(ids, id) }
  return { name: ids.name, of: ({ id }: Message) => validDate(ids.born(id)) }
}

export function validDate(born: Date | undefined): Date | undefined {
  return born === undefined || Number.isNaN(born.getTime()) ? undefined : born
}

export function checkRetention(retention: RetentionOptions | undefined): void {
  if (retention === undefined) return
  checkOptions(retention, ['days', 'tooOld', 'timeless'], 'retention')
  // Less than a day is shorter than an ordinary outage of a consumer, or a weekend.
  checkNumber(retention.days, 'retention.days', 1)
  checkChoice(retention.tooOld ?? 'dead-letter', 'retention.tooOld', ['dead-letter', 'skip'])
  if (retention.timeless === undefined) return
  checkOptions(retention.timeless, ['days', 'iAcceptReruns'], 'retention.timeless')
  checkNumber(retention.timeless.days, 'retention.timeless.days', 1)
  if (retention.timeless.iAcceptReruns !== true) {
    throw new JustonceError('OPTION_INVALID', {
      message:
        'retention.timeless needs iAcceptReruns: true: a copy that comes after its record was removed runs again.',
    })
  }
}

export function maintenanceOf(retention: RetentionOptions | undefined): MaintainerOptions {
  if (retention === undefined) return { keepMs: undefined, keepTimelessMs: undefined }
  const { days, timeless } = retention
  return { keepMs: days * dayMs, keepTimelessMs: timeless === undefined ? undefined : timeless.days * dayMs }
}
