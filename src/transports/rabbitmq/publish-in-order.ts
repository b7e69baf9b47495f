import type { OutgoingMessage, PublishResult } from '../../contracts/index.ts'
import type { WireMessage } from './to-wire.ts'

export type Encoded =
  | { readonly kind: 'wire'; readonly wire: WireMessage }
  | (PublishResult & { readonly kind: 'refused' })

/**
 * Sends messages of different keys together, and those of one key one after another: the broker may refuse one (its queue is
 * full) and accept the next, which would overtake it. Messages behind a refused one of their key are held back.
 */
export async function publishInOrder(
  messages: readonly OutgoingMessage[],
  encode: (message: OutgoingMessage) => Encoded,
  send: (wires: readonly WireMessage[]) => Promise<readonly PublishResult[]>,
): Promise<readonly PublishResult[]> {
  const results: (PublishResult | undefined)[] = messages.map(() => undefined)
  const stopped = new Set<string>()
  for (;;) {
    const wave: { readonly index: number; readonly wire: WireMessage }[] = []
    const inWave = new Set<string>()
    for (const [index, message] of messages.entries()) {
      const { key } = message
      if (results[index] !== undefined || (key !== undefined && inWave.has(key))) continue
      if (key !== undefined && stopped.has(key)) {
        results[index] = { kind: 'held' }
        continue
      }
      const encoded = encode(message)
      if (encoded.kind === 'wire') {
        wave.push({ index, wire: encoded.wire })
        if (key !== undefined) inWave.add(key)
      } else {
        results[index] = encoded
        if (key !== undefined) stopped.add(key)
      }
    }
    if (wave.length === 0) return results as PublishResult[]
    const answers = await send(wave.map(({ wire }) => wire))
    for (const [place, { index }] of wave.entries()) {
      const answer = answers[place] as PublishResult
      const key = messages[index]?.key
      results[index] = answer
      if (answer.kind === 'refused' && key !== undefined) stopped.add(key)
    }
  }
}
