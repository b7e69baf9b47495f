import type { Headers } from '../../contracts/index.ts'

/**
 * Names that mean something to the broker or that the client cannot carry. Such headers of ours are sent under another name: a
 * plain text header must neither reroute a message (CC) nor pass for one of the broker's.
 */
const takenNames = new Set(['__proto__', 'CC', 'BCC', 'x-death', 'x-delivery-count'])
const prefix = 'justonce:'

export function toWireHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      takenNames.has(name) || name.startsWith(prefix) ? `${prefix}${name}` : name,
      value,
    ]),
  )
}

/** AMQP headers may be numbers, times, tables and lists. What is not text becomes JSON, what is unreadable is left out. */
export function fromWireHeaders(headers: Readonly<Record<string, unknown>>): Headers {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const text = asText(value)
      // CloudEvents on AMQP may be spelt either way.
      const ours = (name.startsWith(prefix) ? name.slice(prefix.length) : name).replace(
        /^cloudEvents_/i,
        'cloudEvents:',
      )
      // In CloudEvents, null means that the attribute is not set. As text it would be the id of all such messages.
      const isUnset = value === null && /^cloudEvents:/i.test(ours)
      return text === undefined || isUnset ? [] : [[ours, text]]
    }),
  )
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  try {
    const plain = withoutWrapping(value)
    return typeof plain === 'string' ? plain : (JSON.stringify(plain) ?? '')
  } catch {
    // The number is not exact, or the value is nested too deeply for the stack. One message must not stop those behind it.
    return undefined
  }
}

/** The client wraps types that JavaScript does not have, for example `{ '!': 'timestamp', value: 1767225600 }`. */
function withoutWrapping(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return exact(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(withoutWrapping)
  if ('!' in value && 'value' in value)
    return value['!'] === 'timestamp' ? asTime(value.value) : withoutWrapping(value.value)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutWrapping(each)]))
}

function asTime(seconds: unknown): unknown {
  const date = new Date(Number(seconds) * 1_000)
  return Number.isNaN(date.getTime()) ? withoutWrapping(seconds) : date.toISOString()
}

/** Two ids must not become one, or the second message would be a duplicate: the client rounds 64-bit integers, JSON has no NaN. */
function exact(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError('JSON would have null in its place.')
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new RangeError('The client has rounded it.')
  return value
}
