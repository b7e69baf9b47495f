import type { Headers } from '../../contracts/index.ts'

/** A request whose body has been read, as checks and `identify` see it. */
export interface WebhookRequest {
  /** Names in lower case. Headers that came several times are joined by a comma. */
  readonly headers: Headers
  /** The bytes as they were received: signatures are about them and nothing else. */
  readonly body: Uint8Array
  readonly path: string
  /** By the clock of the transport. */
  readonly now: Date
  /** The body as JSON, or undefined where it is none. */
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

/** A property of a JSON object, if it has it itself. */
export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
