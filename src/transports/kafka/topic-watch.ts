import { JustonceError } from '../../errors/index.ts'
import type { Fetcher } from './fetching.ts'
import type { GroupMember } from './group-member.ts'
import { type KafkaSettings, whereOf } from './settings.ts'

/** How often to look for missing topics. */
const lookMs = 5_000

export interface TopicWatchOptions {
  readonly settings: KafkaSettings
  readonly member: GroupMember
  readonly fetcher: Fetcher
}

/** Decides which topics are read: one that is missing or has no leader must not stop the others. */
export class TopicWatch {
  readonly #options: TopicWatchOptions
  #read: readonly string[]
  #looking: Promise<void> | undefined
  #lookedAt = 0

  constructor(options: TopicWatchOptions) {
    this.#options = options
    this.#read = options.settings.topics
  }

  /** Whether other topics can be read while one is missing. */
  get hasOthers(): boolean {
    return this.#options.settings.topics.length > 1
  }

  /** Looks for missing topics from time to time. */
  async lookForMissing(): Promise<void> {
    const { settings } = this.#options
    if (this.#read.length === settings.topics.length) return
    if (settings.clock.monotonicMs() - this.#lookedAt >= lookMs) await this.look()
  }

  /** Asks which topics exist, and reads those. Rejects if none can be read. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #look(): Promise<void> {
    const { settings, member, fetcher } = this.#options
    const { present, refused, leaderless } = await fetcher.present(settings.topics)
    this.#lookedAt = settings.clock.monotonicMs()
    const found = [...present, ...refused, ...leaderless]
    const missing = settings.topics.filter((topic) => !found.includes(topic))
    for (const topic of missing) settings.seen.isNew(topic)
    const names = missing.join(', ')
    const notAllowed = new JustonceError('BROKER_REFUSED', {
      message: `The broker at ${whereOf(settings)} does not allow topic ${refused.join(', ')}.`,
    })
    if (present.length === 0 && refused.length > 0) throw notAllowed
    if (present.length === 0) {
      throw new JustonceError('BROKER_SETUP', { message: `Unknown topic ${names} at ${whereOf(settings)}.` })
    }
    const before = this.#read
    if (present.length === before.length && present.every((topic) => before.includes(topic))) return
    this.#read = present
    if (missing.length > 0) {
      const message = `Topic ${names} is not there at ${whereOf(settings)}.`
      settings.notice(new JustonceError('TOPIC_MISSING', { message }))
    }
    if (refused.length > 0) settings.notice(notAllowed)
    if (leaderless.length > 0) {
      const message = `Topic ${leaderless.join(', ')} has a partition without a leader, and nothing of it is read.`
      settings.notice(new JustonceError('PARTITION_UNREADABLE', { message }))
    }
    fetcher.subscribe(present)
    void member.subscribe(present, before)
  }
}
