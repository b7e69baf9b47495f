import { backoffMs } from '../../clock/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { asSetupError, messageOf } from './client-errors.ts'
import type { PartitionLedger } from './partition-ledger.ts'
import { type KafkaSettings, whereOf } from './settings.ts'

interface Trouble {
  readonly failures: number
  /** Not asked for again before this time. */
  readonly untilMs: number
}

/** Up to this many failures may be a temporary problem. */
const patience = 5

/**
 * Partitions that could not be read, or were requested together with one that could not. Each is requested alone, after a
 * growing pause, so that the others continue.
 */
export class Troubles {
  readonly #settings: KafkaSettings
  readonly #of = new WeakMap<PartitionLedger, Trouble>()

  constructor(settings: KafkaSettings) {
    this.#settings = settings
  }

  has(ledger: PartitionLedger): boolean {
    return this.#of.has(ledger)
  }

  /** Which of them to request together. */
  choose(ledgers: readonly PartitionLedger[]): readonly PartitionLedger[] {
    const now = this.#settings.clock.monotonicMs()
    const due = ledgers.find((ledger) => (this.#of.get(ledger)?.untilMs ?? Number.POSITIVE_INFINITY) <= now)
    return due === undefined ? ledgers.filter((ledger) => !this.has(ledger)) : [due]
  }

  /** One of them failed. Requesting each alone will show which. */
  suspect(ledgers: readonly PartitionLedger[]): void {
    for (const ledger of ledgers) this.#of.set(ledger, { failures: 0, untilMs: 0 })
  }

  /** Returns how often it has failed so far. */
  failed(ledger: PartitionLedger, error: unknown): number {
    const { clock, notice } = this.#settings
    const failures = (this.#of.get(ledger)?.failures ?? 0) + 1
    this.#of.set(ledger, { failures, untilMs: clock.monotonicMs() + backoffMs(failures, clock) })
    if (failures > patience) notice(this.#asNotice(ledger, error))
    return failures
  }

  over(ledgers: readonly PartitionLedger[]): void {
    for (const ledger of ledgers) this.#of.delete(ledger)
  }

  #asNotice({ lane }: PartitionLedger, error: unknown): JustonceError {
    const setup = asSetupError(error, whereOf(this.#settings))
    const message = `Partition ${lane} cannot be read: ${messageOf(error)} The others are read on.`
    return new JustonceError(setup?.code === 'BROKER_REFUSED' ? setup.code : 'PARTITION_UNREADABLE', {
      message,
      cause: error,
    })
  }
}
