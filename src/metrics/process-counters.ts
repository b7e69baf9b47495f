import type { JustonceEvent } from '../contracts/index.ts'
import { type ProcessMetric, processMetrics } from './definitions.ts'
import { Samples } from './samples.ts'

/** Counts what a process does, from its events. Types, keys and errors of messages are never labels. */
export class ProcessCounters {
  readonly #metrics = new Map(
    Object.entries(processMetrics).map(([name, definition]) => [name, new Samples(definition)] as const),
  )

  heard(event: JustonceEvent): void {
    switch (event.kind) {
      case 'processed':
        this.#add('justonce_processed_total', event.handler)
        if (event.attempt !== undefined) this.#add('justonce_retries_total', event.handler)
        return
      case 'duplicate':
        this.#add('justonce_duplicates_total', event.handler, event.from === 'cache' ? 'here' : 'store')
        return
      case 'parked':
        if (event.attempts > 0) this.#add('justonce_failures_total', event.handler)
        if (event.attempts > 1) this.#add('justonce_retries_total', event.handler)
        if (event.state === 'dead') this.#add('justonce_dead_letters_total', event.handler)
        return
      case 'at-most-once-failed':
        this.#add('justonce_failures_total', event.handler)
        return
      case 'expired':
        this.#add('justonce_expired_total', event.handler)
        return
      case 'published':
        this.#count('justonce_published_total', event.messages)
        return
      case 'relayed':
        if (event.sent > 0) this.#count('justonce_sent_total', event.sent, event.destination)
        if (event.failed > 0) this.#count('justonce_send_failures_total', event.failed, event.destination)
        return
      case 'batch':
        this.#add('justonce_batches_total')
        this.#count('justonce_batch_messages_total', event.messages)
        this.#count('justonce_batch_seconds_total', event.ms / 1_000)
        return
      case 'rolled-back':
        this.#add('justonce_rollbacks_total', event.reason)
        return
      case 'intent-done':
        this.#add('justonce_intents_total', event.effect, 'done')
        return
      case 'intent-failed':
        this.#add('justonce_intents_total', event.effect, 'failed')
        return
      case 'intent-unknown':
        this.#add('justonce_intents_total', event.effect, 'unknown')
        return
      case 'store-down':
        this.#add('justonce_store_down_total')
        return
      case 'breaker-opened':
        this.#add('justonce_breakers_opened_total', event.handler)
        return
      case 'warning':
      case 'transport-notice':
        this.#add('justonce_warnings_total', event.code)
        return
      case 'loop-failed':
        this.#add('justonce_loop_failures_total', event.loop)
        return
    }
  }

  text(): string {
    return [...this.#metrics].map(([name, samples]) => samples.lines(name)).join('')
  }

  #add(name: ProcessMetric, ...labels: readonly string[]): void {
    this.#count(name, 1, ...labels)
  }

  #count(name: ProcessMetric, value: number, ...labels: readonly string[]): void {
    this.#metrics.get(name)?.add(labels, value)
  }
}
