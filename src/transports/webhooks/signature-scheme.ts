import type { Headers, IncomingMessage } from '../../contracts/index.ts'
import type { WebhookRequest } from './webhook-request.ts'

/**
 * `forged`: not signed by anyone who has a secret. `stale`: signed, but outside of the replay window. Neither is ever
 * handed on.
 */
export type Verdict = 'genuine' | 'forged' | 'stale'

/** What a message is, apart from its content; read only after the signature was found to be genuine. */
export type Described = Pick<IncomingMessage, 'id' | 'type' | 'key' | 'sentAt' | 'expiresAt'>

/** How one vendor signs its webhooks, and where it says what they are. */
export interface SignatureScheme {
  readonly name: string
  verify(request: WebhookRequest): Verdict | Promise<Verdict>
  /** Must use only what the signature covers, as far as there is a choice. */
  describe(request: WebhookRequest): Described
  /** How long the vendor sends an event again. */
  readonly redeliversForMs?: number | undefined
}

/**
 * A check of your own. Only `true` lets a request in; `false` is answered with 401. Throw when you cannot tell (a key
 * server is down): that is answered with 503, and the sender comes again.
 */
export type VerifyRequest = (headers: Headers, body: Uint8Array) => boolean | Promise<boolean>
