import type { WantedMessages } from '../../contracts/index.ts'
import { fittedText, plainText } from '../../encoding/fit-text.ts'
import { unrouted } from '../../encoding/unrouted.ts'
import type { Engine } from '../engine.ts'
import type { Handler } from '../handler.ts'

/**
 * The parked messages that this app can try. Another app on the same database may have handlers of the same name for
 * messages of other types, or the only handler for what has reached none: what is not of a type that is handled here is
 * left to whoever handles it.
 */
export function wantedHere<Tx>(
  engine: Pick<Engine<Tx>, 'handlerNames' | 'handlerNamed' | 'outlet'>,
  isReady: (name: string, handler: Handler<Tx>) => boolean = () => true,
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
    // What has no type at all is refused by every app alike.
    ...[...types, ''].map((type) => ({ handler: unrouted, type })),
    ...engine.outlet.queues.map((queue) => ({ handler: queue, type: undefined })),
  ]
}

/** As it may stand in a parked row. */
function formsOf(type: string): readonly string[] {
  return [...new Set([fittedText(type), fittedText(plainText(type))])]
}
