import type { WantedMessages } from '../../contracts/index.ts'
import { fittedText, plainText } from '../../encoding/fit-text.ts'
import { unrouted } from '../../encoding/unrouted.ts'
import type { Engine } from '../engine.ts'
import type { Handler } from '../handler.ts'

/**
 * The parked messages that this app can try. Another app on the same database may have handlers of the same name for
 * messages of other types, or the only handler for a message that reached none. Messages of types that are not handled
 * here are left to the app that handles them.
 */
export function wantedHere<Tx>(
  engine: Pick<Engine<Tx>, 'handlerNames' | 'handlerNamed' | 'outlet'>,
  isReady: (name: string, handler?: Handler<Tx>) => boolean = () => true,
): readonly WantedMessages[] {
  const known = engine.handlerNames.flatMap((name) => {
    const handler = engine.handlerNamed(name)
    return handler === undefined ? [] : { name, handler }
  })
  const types = new Set(known.flatMap(({ handler }) => formsOf(handler.type)))
  return [
    ...known
      .filter(({ name, handler }) => isReady(name, handler))
      .flatMap(({ name, handler }) => formsOf(handler.type).map((type) => ({ handler: name, type }))),
    // A message without a type is refused by every app alike.
    ...[...types, ''].map((type) => ({ handler: unrouted, type })),
    ...outgoingNames(engine)
      .filter((name) => isReady(name))
      .map((name) => ({ handler: name, type: undefined })),
  ]
}

/** The names under which outgoing messages are parked that this process may put into their queues. */
export function outgoingNames<Tx>({ outlet }: Pick<Engine<Tx>, 'outlet'>): readonly string[] {
  return [...new Set([...outlet.queues, ...outlet.delayedNames])]
}

/** The forms in which a type may appear in a parked row. */
function formsOf(type: string): readonly string[] {
  return [...new Set([fittedText(type), fittedText(plainText(type))])]
}
