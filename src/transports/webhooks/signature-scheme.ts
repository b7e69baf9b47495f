import type { Headers, IncomingMessage } from '../../contracts/index.ts'
import type { WebhookRequest } from './webhook-request.ts'

/** `forged`: not signed by anyone who has a secret. `stale`: signed, but outside the replay window. Neither is ever passed on. */
export type Verdict = 'genuine' | 'forged' | 'stale'

/** The attributes of a message, without its content. They are read only after the signature was verified. */
export type Described = Pick<IncomingMessage, 'id' | 'type' | 'key' | 'sentAt' | 'expiresAt'>

/** How one vendor signs its webhooks, and where it puts their attributes. */
export interface SignatureScheme {
  readonly name: string
  verify(request: WebhookRequest): Verdict | Promise<Verdict>
  /** Must use only what the signature covers, where there is a choice. */
  describe(request: WebhookRequest): Described
  /** How long the vendor redelivers an event. */
  readonly redeliversForMs?: number | undefined
}

/**
 * Your own check. Only `true` accepts a request; `false` is answered with 401. Throw if you cannot tell (a key server is down):
 * that is answered with 503, and the sender retries.
 */
export type VerifyRequest = (headers: Headers, body: Uint8Array) => boolean | Promise<boolean>
