import type { Clock } from '../contracts/index.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { JustonceError } from '../errors/index.ts'
import type { HandlerKnowledge } from './site.ts'

/** For a store without an app: only what the rows and the messages themselves say. */
export function noHandlers(clock: Clock): HandlerKnowledge {
  return {
    namesOf: (handler) => [handler],
    isHandled: () => false,
    encode: (body) => new TextEncoder().encode(JSON.stringify(body)),
    isTooLate({ message }) {
      const { expiresAt } = unpackLetter(message)
      return expiresAt instanceof Date && clock.now().getTime() > expiresAt.getTime()
    },
    runsOf: async () => undefined,
    async editedMessage({ handler }) {
      throw new JustonceError('EDIT_INVALID', {
        message: `An edited body must be checked by handler ${handler}, which this process does not have: edit through app.operations of an app that has it.`,
      })
    },
  }
}
