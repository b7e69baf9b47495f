import { JustonceError } from '../../errors/index.ts'

/** `borrower` is a phrase as it appears in mid-sentence: `the handler 'tag-note'`. */
export function controlError(borrower: string, what: string): JustonceError {
  return new JustonceError('TX_CONTROL', {
    message: `${capital(borrower)} called ${what} on the transaction it was lent.`,
  })
}

export function notInterleavable(borrower: string, what: string): JustonceError {
  return new JustonceError('NOT_INTERLEAVABLE', {
    message: `${capital(borrower)} used ${what} while it shared its transaction with other messages.`,
  })
}

export function lateCallError(borrower: string): JustonceError {
  return new JustonceError('TX_CLOSED', { message: `${capital(borrower)} used tx after it had settled.` })
}

export function endedInsideError(borrower: string, cause: unknown): JustonceError {
  return new JustonceError('TX_ENDED', { message: `The transaction ended while ${borrower} used it.`, cause })
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
