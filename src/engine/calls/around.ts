import type { Message } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'

/** One call of a handler. */
export interface HandlerCall {
  readonly handler: string
  /** One; all that a batch handler is given. */
  readonly messages: readonly Message[]
  /** 1 is the first. */
  readonly attempt: number
}

/** Wraps the calls of handlers: for traces, contexts of logs, AsyncLocalStorage. `message` is the first of the call. */
export type Around = (message: Message, next: () => Promise<unknown>, call: HandlerCall) => unknown

/**
 * Resolves to what the handler does, and fails if it or `around` does: a wrapper that forgets to pass on a result or an
 * error must not lose it.
 */
export async function callAround(around: Around, call: HandlerCall, run: () => unknown): Promise<unknown> {
  let running: Promise<unknown> | undefined
  let isOver = false
  const next = (): Promise<unknown> => {
    if (running !== undefined || isOver) throw incomplete(call, 'called next() twice, or after it had settled')
    // Begun here and now, in the asynchronous context of whoever calls it.
    running = (async () => await run())()
    running.catch(() => {})
    return running
  }
  try {
    await around(call.messages[0] as Message, next, call)
  } catch (error) {
    // The handler goes on with its transaction until it has settled.
    await (running as Promise<unknown> | undefined)?.catch(() => {})
    throw error
  } finally {
    isOver = true
  }
  if (running === undefined) throw incomplete(call, 'settled without having called next()')
  return await running
}

function incomplete({ handler }: HandlerCall, what: string): JustonceError {
  return new JustonceError('AROUND_INCOMPLETE', { message: `around() of handler ${handler} ${what}.` })
}
