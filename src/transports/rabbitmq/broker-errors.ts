import { type ErrorCode, isJustonceError, JustonceError } from '../../errors/index.ts'

/** AMQP reply codes for something that does not exist, is in use, or is set up differently. */
const aboutSetup = new Set<unknown>([404, 405, 406, 530, 540])
export const accessRefused = 403

/** Translates an error of the client into ours. Never shows the URL, because it may contain a password. */
export function brokerError(error: unknown, doing: string): JustonceError {
  if (isJustonceError(error)) return error
  const text = textOf(error)
  // The client does not say why the server closed the connection at this point. There are two possible reasons.
  const why = /ConnectionOpenOk/.test(text) ? 'the virtual host does not exist, or this user may not use it' : text
  return new JustonceError(codeFor(error, text), { message: `${doing}: ${why}.`, cause: error })
}

/** The reply code, if the client reports it. */
export function replyCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

function codeFor(error: unknown, text: string): ErrorCode {
  if (/ConnectionOpenOk/.test(text)) return 'BROKER_REFUSED'
  // For handshake errors, the client reports no code, so it is read from the text.
  const inText = /\b(\d{3}) \([A-Z-]+\)/.exec(text)?.[1]
  const code = replyCode(error) ?? (inText === undefined ? undefined : Number(inText))
  if (code === accessRefused) return 'BROKER_REFUSED'
  // The connection is fine: the broker closed the channel because messages stayed unacknowledged for too long.
  if (code === 406 && /\btimed out\b/i.test(text)) return 'CONSUMER_TIMEOUT'
  return aboutSetup.has(code) ? 'BROKER_SETUP' : 'BROKER_UNREACHABLE'
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message || String(replyCode(error) ?? error.name) : String(error)
  return text.replace(/[.\s]+$/, '')
}
