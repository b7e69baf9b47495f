import type { IncomingMessage } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'

export interface EnvelopeLimits {
  readonly maxBodyBytes: number
  readonly maxHeaderBytes: number
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f]/

/** Refuses what no handler should see. Checks everything but the content of the body. */
export function checkEnvelope(message: IncomingMessage, limits: EnvelopeLimits): void {
  if (message.cut !== undefined) {
    throw new JustonceError('MESSAGE_NOT_KEPT', {
      message: `The body had ${message.cut.bytes} bytes, too many to be kept; its SHA-256 is ${message.cut.sha256}.`,
    })
  }
  if (message.id !== undefined) checkKey(message.id, 'The id of the message')
  checkTexts(message)
  if (message.body.length > limits.maxBodyBytes) {
    throw new JustonceError('BODY_TOO_LARGE', {
      message: `The body has ${message.body.length} bytes, the limit is ${limits.maxBodyBytes}.`,
      details: { bytes: message.body.length, limit: limits.maxBodyBytes },
    })
  }
  let headerBytes = 0
  for (const name of Object.keys(message.headers)) {
    const value: unknown = message.headers[name]
    if (typeof value !== 'string') {
      throw new JustonceError('HEADERS_INVALID', {
        message: `The header ${JSON.stringify(name)} is ${value === null ? 'null' : typeof value}, not text.`,
      })
    }
    headerBytes += Buffer.byteLength(name) + Buffer.byteLength(value)
  }
  if (headerBytes > limits.maxHeaderBytes) {
    throw new JustonceError('HEADERS_INVALID', {
      message: `The headers have ${headerBytes} bytes together, the limit is ${limits.maxHeaderBytes}.`,
    })
  }
}

/** Transports are written by many authors: a missing value may be null, but a value that is present must be text. */
function checkTexts({ type, key, source }: IncomingMessage): void {
  checkText('type', type)
  checkText('key', key)
  checkText('source', source)
}

function checkText(name: string, value: unknown): void {
  if (value === undefined || value === null || typeof value === 'string') return
  throw new JustonceError('ENVELOPE_INVALID', {
    message: `The ${name} of the message is of the type ${typeof value}, not text.`,
  })
}

/** Every database must return a key unchanged: two keys that become equal would lose a message. */
export function isKey(key: unknown): key is string {
  return (
    typeof key === 'string' && key.length > 0 && key.length <= 255 && !controlCharacters.test(key) && key.isWellFormed()
  )
}

export function checkKey(key: string, what: string): void {
  if (!isKey(key)) {
    const given: unknown = key
    const seen =
      typeof given === 'string' ? `${given.length} characters: ${JSON.stringify(given.slice(0, 60))}` : typeof given
    throw new JustonceError('MESSAGE_ID_INVALID', { message: `${what} cannot be a key (${seen}).` })
  }
}
