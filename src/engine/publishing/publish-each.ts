import { JustonceError, whatWasGiven } from '../../errors/index.ts'
import type { AnyToPublish, CallContext } from '../handler.ts'

/** Synchronous in its first step, so that messages keep their order, and what is published next follows them. */
export function publishEach(
  publish: CallContext['publish'],
  messages: readonly AnyToPublish[],
): Promise<readonly string[]> {
  return Promise.all(listOf(messages).map(({ type, body, ...options }) => publish(type, body, options)))
}

/** Refuses what is no list of messages, such as the arguments of `publish`. */
export function listOf(messages: readonly AnyToPublish[]): readonly AnyToPublish[] {
  if (!Array.isArray(messages)) throw notAList(messages)
  for (const message of messages) if (typeof message !== 'object' || message === null) throw notAList(message)
  return messages
}

function notAList(given: unknown): JustonceError {
  return new JustonceError('OPTION_INVALID', {
    message: `publishAll() wants a list of messages such as { type, body, key }, not ${whatWasGiven(given)}.`,
  })
}
