import { goneFrom, JustonceError } from '../../../errors/index.ts'

const mark = 'justonce asked for more:'

/** Postgres did not do what it was asked to do and reported no error. Everything done along with it must be rolled back too. */
export function swallowed(what: string, cause?: unknown): JustonceError {
  return new JustonceError('STORE_DENIED', {
    message: `Postgres reported no error, but ${what}: row-level security, a rule or a trigger keeps the role of the store from it.`,
    cause,
  })
}

const goneMark = 'justonce has let go of queue'

/** The end of a statement that fails if messages are missing that must still be in the queue `$1`. */
export function failIfGone(missing: string): string {
  return `SELECT CASE WHEN ${missing} > 0 THEN concat('${goneMark} ', encode(convert_to($1::text, 'UTF8'), 'hex'), '.')::int END`
}

/** The same error as the other stores report. */
export function goneIn(message: string, cause: unknown): JustonceError | undefined {
  const queue = message.split(`${goneMark} `)[1]?.split('.')[0]
  return queue === undefined ? undefined : goneFrom(Buffer.from(queue, 'hex').toString(), cause)
}

/**
 * The end of a statement that fails if rows are missing in what it has done, so that nothing sent behind it, not even a
 * commit, takes effect. `concat` keeps the planner from evaluating it, and failing, too early.
 */
export function failIfMissing(missing: string, what: string): string {
  return `SELECT CASE WHEN missing > 0 THEN concat('${mark} ', missing, ' ${what}')::int END FROM (SELECT ${missing}) AS short (missing)`
}

/** What such a statement failed with, as the error that is reported; `undefined` if it is another error. */
export function swallowedIn(message: string, cause: unknown): JustonceError | undefined {
  const what = message.split(`${mark} `)[1]?.split('"')[0]
  return what === undefined ? undefined : swallowed(what, cause)
}
