import type { KafkaMetadata } from './client-shapes.ts'

/** Which topics came while this process ran: all their records were added after the group began. */
export class SeenTopics {
  readonly #ids = new Map<string, string>()
  readonly #cameLater = new Set<string>()

  /** Another id means another topic of the same name. */
  see({ topics }: KafkaMetadata): void {
    for (const [name, topic] of topics) {
      if (topic === undefined) continue
      if ((this.#ids.get(name) ?? topic.id) !== topic.id) this.#cameLater.add(name)
      this.#ids.set(name, topic.id)
    }
  }

  /** It is or was missing, or known to be another one than before. */
  isNew(name: string): void {
    this.#cameLater.add(name)
  }

  cameLater(name: string): boolean {
    return this.#cameLater.has(name)
  }
}
