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
    super(message)
    this.name = 'SimError'
    this.code = code
  }
}
