import type { IncomingMessage, Message } from '../../contracts/index.ts'
import { fittedText } from '../../encoding/fit-text.ts'
import { readable } from '../../encoding/readable.ts'

/** What is known of a message when it is asked for its business id. The body is `undefined` if nothing could read it. */
export type MessageOfBusiness = Pick<Message, 'type' | 'body' | 'headers' | 'key'> & {
  readonly id?: string | undefined
}

/** The name under which the business knows what a message is about, such as the number of an order. */
export type BusinessIdOf = (message: MessageOfBusiness) => string | number | bigint | undefined | null

/** A header names it, or a function. */
export function decideBusinessId(given: string | BusinessIdOf | undefined): BusinessIdOf | undefined {
  if (typeof given !== 'string') return given
  const wanted = given.toLowerCase()
  return ({ headers }) => {
    for (const name in headers) if (name.toLowerCase() === wanted) return headers[name]
    return undefined
  }
}

/** As rows keep it. Never throws, because it is asked where a message must be kept. */
export function businessIdIn(of: BusinessIdOf | undefined, message: MessageOfBusiness): string | undefined {
  if (of === undefined) return undefined
  try {
    const id = of(message)
    const isName = typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
    return isName && id !== '' ? fittedText(String(id)) : undefined
  } catch {
    return undefined
  }
}

/** A message that was refused may not have been read. */
export function asReceived({ id, type = '', key, headers = {}, body }: IncomingMessage): MessageOfBusiness {
  const read = readable(body)
  return { id, type, key, headers, body: read instanceof Uint8Array ? undefined : read }
}
