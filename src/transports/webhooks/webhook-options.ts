import { systemClock } from '../../clock/index.ts'
import type { Clock } from '../../contracts/index.ts'
import { checkFunction, checkNumber, checkOptions, JustonceError, quiet } from '../../errors/index.ts'
import type { Refusal } from './answers.ts'
import { decideHeaders, type HeaderOptions, type KeepHeaders } from './kept-headers.ts'
import type { SignatureScheme, VerifyRequest } from './signature-scheme.ts'
import type { WebhookRequest } from './webhook-request.ts'

/** Options for receiving requests, however the messages are processed afterwards. */
export interface ReceivingOptions {
  /** `stripeSignature(…)`, `githubSignature(…)`, `standardWebhooks(…)`, or your own check. */
  readonly verify: SignatureScheme | VerifyRequest
  /** Only requests to this path are accepted; others get 404. Default: any path. */
  readonly path?: string
  /** The id of the message. A request without one gets 400. Default: where the signature's vendor puts it, or `ce-id`. */
  readonly identify?: (request: WebhookRequest) => string | undefined
  /** The type of the message. Default: where the signature's vendor puts it, or `ce-type`. */
  readonly type?: string | ((request: WebhookRequest) => string | undefined)
  /**
   * Which headers the message keeps. Default: all except those about the connection, and those whose name suggests a signature
   * or a secret: `authorization`, `cookie`, `…signature…`, `…token…`, `…api-key…` and the like.
   */
  readonly headers?: HeaderOptions
  /** A larger body is answered with 413, and not read to the end. Default: 1 MiB. */
  readonly maxBodyBytes?: number
  /** Every request is answered within this time, with 503 if necessary. Stay below the sender's timeout. Default: 8,000. */
  readonly answerWithinMs?: number
  /** The delay that `Retry-After` announces on a 503. Default: 10,000. */
  readonly retryAfterMs?: number
  /** Called for every request that was not answered with 200, for logs and alerts. */
  readonly onRefused?: (refusal: Refusal) => void
  /** The clock, for tests. Default: the system clock. */
  readonly clock?: Clock
}

const known = [
  'verify',
  'path',
  'identify',
  'type',
  'headers',
  'maxBodyBytes',
  'answerWithinMs',
  'retryAfterMs',
  'onRefused',
  'clock',
]

/** The options with their defaults. */
export type Receiving = Required<Pick<ReceivingOptions, 'maxBodyBytes' | 'answerWithinMs' | 'retryAfterMs' | 'clock'>> &
  Pick<ReceivingOptions, 'verify' | 'path' | 'identify' | 'type'> & {
    readonly source: string
    readonly keepHeaders: KeepHeaders
    onRefused(refusal: Refusal): void
  }

export function decideReceiving(options: ReceivingOptions, more: readonly string[], where: string): Receiving {
  checkOptions(options, [...known, ...more], where)
  const { verify, path, identify, type, maxBodyBytes = 1_048_576, answerWithinMs = 8_000 } = options
  const { retryAfterMs = 10_000, clock = systemClock, onRefused } = options
  if (typeof verify !== 'object' || verify === null) checkFunction(verify, 'verify')
  else checkFunction(verify.verify, 'verify.verify')
  if (path !== undefined && (typeof path !== 'string' || !path.startsWith('/')))
    throw new JustonceError('OPTION_INVALID', { message: `path is ${JSON.stringify(path)}, but must begin with /.` })
  if (identify !== undefined) checkFunction(identify, 'identify')
  if (type !== undefined && typeof type !== 'string') checkFunction(type, 'type')
  if (onRefused !== undefined) checkFunction(onRefused, 'onRefused')
  checkNumber(maxBodyBytes, 'maxBodyBytes', 1)
  checkNumber(answerWithinMs, 'answerWithinMs', 1)
  checkNumber(retryAfterMs, 'retryAfterMs', 0)
  const origin = path ?? (typeof verify === 'function' ? undefined : verify.name)
  return {
    ...{ verify, path, identify, type, maxBodyBytes, answerWithinMs, retryAfterMs, clock },
    keepHeaders: decideHeaders(options.headers),
    source: origin === undefined ? 'webhooks' : `webhooks:${origin}`,
    onRefused: quiet(onRefused),
  }
}
