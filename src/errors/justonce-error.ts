import { catalog, type ErrorCode } from './catalog.ts'

const brand = Symbol.for('justonce.error')

export interface JustonceErrorOptions {
  /** What happened, with the value seen. The fix from the catalogue is appended. */
  readonly message: string
  readonly cause?: unknown
  readonly details?: Readonly<Record<string, unknown>>
}

/** Every error that justonce itself raises. Recognise it by `code`; the message says what happened and what to do. */
export class JustonceError extends Error {
  readonly code: ErrorCode
  /** The section of the docs that explains it: `docs/reference/errors.md#store_full`, in the package and in its repository. */
  readonly page: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, options: JustonceErrorOptions) {
    super(`${options.message} ${catalog[code].fix}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'JustonceError'
    this.code = code
    this.page = `docs/reference/errors.md#${code.toLowerCase()}`
    this.details = options.details ?? {}
    Object.defineProperty(this, brand, { value: true })
  }

  /** For logs: JSON would otherwise leave out the message of an error. */
  toJSON(): {
    readonly name: string
    readonly code: ErrorCode
    readonly message: string
    readonly page: string
    readonly details: object
    readonly cause?: string
  } {
    const { name, code, message, page, details, cause } = this
    return { name, code, message, page, details, ...(cause !== undefined && { cause: String(cause) }) }
  }
}

/** Works across two installed copies of justonce, where `instanceof` would not. */
export function isJustonceError(error: unknown, code?: ErrorCode): error is JustonceError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || ('code' in error && error.code === code)
}
