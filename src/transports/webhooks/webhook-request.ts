import type { Headers } from '../../contracts/index.ts'

/** A request whose body has been read, as checks and `identify` see it. */
export interface WebhookRequest {
  /** Names are in lower case. Headers that occur several times are joined by a comma. */
  readonly headers: Headers
  /** The bytes exactly as received: these are what the signature covers. */
  readonly body: Uint8Array
  readonly path: string
  /** The time by the clock of the transport. */
  readonly now: Date
  /** The body parsed as JSON, or `undefined` if it is not JSON. */
  json(): unknown
}

const decoder = new TextDecoder('utf-8', { fatal: true })

export function webhookRequest(given: Omit<WebhookRequest, 'json'>): WebhookRequest {
  let parsed: { readonly value: unknown } | undefined
  return {
    ...given,
    json() {
      parsed ??= { value: parse(given.body) }
      return parsed.value
    },
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(body))
  } catch {
    return undefined
  }
}

/** An own property of a JSON object. */
export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
