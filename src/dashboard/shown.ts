import { isDeepStrictEqual } from 'node:util'
import type { Headers } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'
import { mask } from '../encoding/secret-headers.ts'
import type { HandlerStory, IntentView, MessageStory, OutgoingView, ParkedView } from '../operations/index.ts'
import type { Access, Decided, Redactable } from './options.ts'
import type { ShownBody } from './shown-body.ts'

/** What those who ask may see of what there is. */
export class Shown {
  readonly #mayBodies: boolean
  readonly #options: Pick<Decided, 'redact' | 'secretHeaders'>

  constructor({ may }: Access, options: Pick<Decided, 'redact' | 'secretHeaders'>) {
    this.#mayBodies = may.includes('bodies')
    this.#options = options
  }

  headers(headers: Headers): Readonly<Record<string, string>> {
    const { secretHeaders } = this.#options
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, secretHeaders.test(name) ? mask : value]),
    )
  }

  body(value: unknown, about: Redactable): ShownBody {
    if (!this.#mayBodies) return { is: 'hidden' }
    const redacted = this.#redacted(value, about)
    if (redacted instanceof Uint8Array) return { is: 'bytes', base64: Buffer.from(redacted).toString('base64') }
    return { is: isDeepStrictEqual(redacted, value) ? 'shown' : 'redacted', value: redacted }
  }

  #redacted(value: unknown, about: Redactable): unknown {
    try {
      // A copy: redact() may change what it is given, and then nobody could tell.
      return this.#options.redact(structuredClone(value), about)
    } catch (error) {
      // One strange body must not hide the rest of the page. What the error says may be what has to stay hidden.
      console.error(`justonce dashboard: redact() failed: ${anyText(error)}`)
      return '(not shown, because redact() failed)'
    }
  }

  /** A row of a list: without what can be large, and what not everybody may see. */
  row<View extends ParkedView>(view: View) {
    const { body: _, originalBody: __, headers: ___, errors, ...rest } = view
    return { ...rest, error: errors.at(-1)?.message }
  }

  /** A parked message with everything. */
  parked<View extends ParkedView>(view: View) {
    const { body, originalBody, headers, ...rest } = view
    const about: Redactable = { of: 'message', handler: view.handler, type: view.type, headers }
    return {
      ...rest,
      headers: this.headers(headers),
      body: this.body(body, about),
      ...(view.edited && { originalBody: this.body(originalBody, about) }),
    }
  }

  intent({ payload, ...rest }: IntentView) {
    const about: Redactable = { of: 'intent', handler: rest.effect, type: undefined, headers: {} }
    return { ...rest, payload: this.body(payload, about) }
  }

  /** A row of a list. */
  outgoing({ body: _, headers: __, ...rest }: OutgoingView) {
    return rest
  }

  story({ message, handlers, outgoing, ...rest }: MessageStory) {
    const headers = message?.headers ?? {}
    const about: Redactable = { of: 'message', handler: handlers[0]?.handler ?? '', type: rest.type, headers }
    return {
      ...rest,
      handlers: handlers.map((each) => this.#handler(each)),
      outgoing: outgoing.map((each) => this.outgoing(each)),
      message: message && {
        headers: this.headers(headers),
        edited: message.edited,
        body: this.body(message.body, about),
        ...(message.edited && { originalBody: this.body(message.originalBody, about) }),
      },
    }
  }

  #handler({ result, ...rest }: HandlerStory) {
    if (result === undefined) return rest
    const about: Redactable = { of: 'result', handler: rest.handler, type: rest.type, headers: {} }
    return { ...rest, result: this.body(parsed(result), about) }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
