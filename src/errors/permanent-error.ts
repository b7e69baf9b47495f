const brand = Symbol.for('justonce.permanent')

/** Thrown by a handler to say that retrying cannot help: the message becomes a dead letter immediately. */
export class PermanentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PermanentError'
    Object.defineProperty(this, brand, { value: true })
  }
}

export function isPermanentError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && brand in error
}
