import type { Engine } from '../engine/engine.ts'
import { encodeBody } from '../engine/publishing/encode-body.ts'
import type { HandlerKnowledge } from '../operations/index.ts'
import { editedMessage } from './edited-body.ts'
import { isTooLate } from './lateness-of-letter.ts'
import { runsOfLetters } from './letter-runs.ts'

/** What the handlers of an app know for operators. */
export function knownHandlers<Tx>(engine: Engine<Tx>): HandlerKnowledge {
  return {
    namesOf(handler) {
      const current = engine.handlerNamed(handler)
      return current === undefined ? [handler] : [current.name, ...current.formerly]
    },
    isHandled: (type) => engine.handlersOf(type).length > 0,
    encode: (body, type) => encodeBody(body, type, engine.codecOf(type)),
    isTooLate: (letter) => isTooLate(engine, letter),
    runsOf: (letters) => runsOfLetters(engine, letters),
    editedMessage: (letter, body) => editedMessage(engine, letter, body),
  }
}
