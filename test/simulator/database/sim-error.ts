export type SimErrorCode =
  | 'deadlock'
  | 'lock-timeout'
  | 'aborted'
  | 'constraint'
  | 'seal'
  | 'no-transaction'
  | 'refused'
  | 'connection-lost'
  | 'server-down'

/** What the simulated server, or the loss of its connection, answers. */
export class SimError extends Error {
  readonly code: SimErrorCode

  constructor(code: SimErrorCode, message: string) {
    // Worlds full of faults make millions of them, and where in the server they were made says nothing.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'SimError'
    this.code = code
  }
}
