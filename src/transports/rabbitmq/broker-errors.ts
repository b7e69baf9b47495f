import { isJustonceError, JustonceError } from '../../errors/index.ts'

/** Reply codes of AMQP that say: what you name is not there, is in use, or is set up differently. */
const aboutSetup = new Set<unknown>([404, 405, 406, 530, 540])

/** An error of the client in our words. Never shows the URL: it may contain a password. */
export function brokerError(error: unknown, doing: string): JustonceError {
  if (isJustonceError(error)) return error
  const code = aboutSetup.has(replyCode(error)) ? 'BROKER_SETUP' : 'BROKER_UNREACHABLE'
  return new JustonceError(code, { message: `${doing}: ${textOf(error)}.`, cause: error })
}

export function replyCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message || String(replyCode(error) ?? error.name) : String(error)
  return text.replace(/[.\s]+$/, '')
}
