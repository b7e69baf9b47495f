import type { Message } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'

/** One call of a handler. */
export interface HandlerCall {
  readonly handler: string
  /** One message, or all messages of a call of a batch handler. */
  readonly messages: readonly Message[]
  /** 1 is the first attempt. */
  readonly attempt: number
}

/** Wraps the calls of handlers: for traces, log contexts, AsyncLocalStorage. `message` is the first message of the call. */
export type Around = (message: Message, next: () => Promise<unknown>, call: HandlerCall) => unknown

/**
 * Resolves to the handler's result, and rejects if the handler or `around` fails: a wrapper that forgets to pass on a
 * result or an error must not lose it.
 */
export async function callAround(around: Around, call: HandlerCall, run: () => unknown): Promise<unknown> {
  let running: Promise<unknown> | undefined
  let isOver = false
  const next = (): Promise<unknown> => {
    if (running !== undefined || isOver) throw incomplete(call, 'called next() twice, or after it had settled')
    // Started synchronously, in the asynchronous context of the caller.
    running = (async () => await run())()
    running.catch(() => {})
    return running
  }
  try {
    await around(call.messages[0] as Message, next, call)
  } catch (error) {
    // The handler keeps using its transaction until it has settled.
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
