import { isJustonceError } from '../errors/index.ts'

/** An answer other than success; thrown, so that nothing after it happens. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const statuses: Readonly<Record<string, number>> = {
  OPTION_INVALID: 400,
  OPTION_UNKNOWN: 400,
  LETTERS_NONE_FOUND: 404,
  INTENT_NOT_FOUND: 404,
  REDRIVE_NOT_FOUND: 404,
  EDIT_INVALID: 422,
  STORE_CANNOT: 501,
}

/** What is said about an error. Those who get it have been let in, so that they may read what the store said. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (isJustonceError(error)) return new Refusal(statuses[error.code] ?? 409, error.code, error.message)
  return new Refusal(503, 'STORE_FAILED', `The store did not answer: ${saidBy(error)}`)
}

/** Some connection errors have no message, only other errors inside them. */
function saidBy(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(saidBy).join('; ')
  return error instanceof Error ? error.message : String(error)
}
