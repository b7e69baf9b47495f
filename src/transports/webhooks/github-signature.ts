import { checkOptions } from '../../errors/index.ts'
import { hexSignature, isSigned, keysIn, type Secrets } from './hmac.ts'
import type { SignatureScheme } from './signature-scheme.ts'
import { textIn } from './webhook-request.ts'

/** What `githubSignature()` takes. */
export interface GithubSignatureOptions {
  /** The webhook's secret, or several while it is being rotated. */
  readonly secret: Secrets
}

const threeDaysMs = 3 * 86_400_000

/**
 * GitHub: `X-Hub-Signature-256: sha256=…`, the id from `X-GitHub-Delivery`, the type from `X-GitHub-Event`. GitHub signs only
 * the body: no time, and neither of these headers.
 */
export function githubSignature(options: GithubSignatureOptions): SignatureScheme {
  checkOptions(options, ['secret'], 'githubSignature()')
  const keys = keysIn(options.secret, 'githubSignature()')
  return {
    name: 'github',
    redeliversForMs: threeDaysMs,
    verify({ headers, body }) {
      const [, hex = ''] = /^sha256=(.*)$/.exec(headers['x-hub-signature-256'] ?? '') ?? []
      const signature = hexSignature(hex)
      return signature !== undefined && isSigned([body], keys, [signature]) ? 'genuine' : 'forged'
    },
    describe: ({ headers }) => ({ id: textIn(headers['x-github-delivery']), type: textIn(headers['x-github-event']) }),
  }
}
