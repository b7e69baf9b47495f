import {
  type AttributePrefix,
  type EventAttributes,
  readCloudEvent,
  readStructured,
} from '../../encoding/cloud-events.ts'
import type { Described } from './signature-scheme.ts'
import type { WebhookRequest } from './webhook-request.ts'

const prefix: AttributePrefix = 'ce-'

/** CloudEvents 1.0 over HTTP in structured mode; `undefined` if it is none. */
export function structuredIn({
  headers,
  body,
}: WebhookRequest): (EventAttributes & { readonly body: Uint8Array }) | undefined {
  return readStructured(headers, body)
}

/** CloudEvents 1.0 over HTTP, binary mode: `ce-id`, `ce-type` and so on, with non-ASCII characters percent-encoded. */
export function describeCloudEvent({ headers }: WebhookRequest): Described {
  const decoded = Object.entries(headers).map(([name, value]) => [
    name,
    name.startsWith(prefix) ? decode(value) : value,
  ])
  const { id, type, key, sentAt, expiresAt } = readCloudEvent(Object.fromEntries(decoded), prefix)
  return { id: id === '' ? undefined : id, type, key, sentAt, expiresAt }
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
