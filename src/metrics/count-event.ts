import type { JustonceEvent } from '../contracts/index.ts'
import type { ProcessMetric } from './definitions.ts'

export type Count = (name: ProcessMetric, value: number, ...labels: readonly string[]) => void

/** What an event counts as, whoever counts. Types, keys and errors of messages are never labels. */
export function countEvent(event: JustonceEvent, count: Count): void {
  const add = (name: ProcessMetric, ...labels: readonly string[]): void => count(name, 1, ...labels)
  switch (event.kind) {
    case 'processed':
      add('justonce_processed_total', event.handler)
      if (event.attempt !== undefined) add('justonce_retries_total', event.handler)
      return
    case 'duplicate':
      add('justonce_duplicates_total', event.handler, event.from === 'cache' ? 'here' : 'store')
      return
    case 'parked':
      if (event.attempts > 0) add('justonce_failures_total', event.handler)
      if (event.attempts > 1) add('justonce_retries_total', event.handler)
      if (event.state === 'dead') add('justonce_dead_letters_total', event.handler)
      return
    case 'at-most-once-failed':
      add('justonce_failures_total', event.handler)
      return
    case 'expired':
      add('justonce_expired_total', event.handler)
      return
    case 'published':
      count('justonce_published_total', event.messages)
      return
    case 'relayed':
      if (event.sent > 0) count('justonce_sent_total', event.sent, event.destination)
      if (event.failed > 0) count('justonce_send_failures_total', event.failed, event.destination)
      return
    case 'batch':
      add('justonce_batches_total')
      count('justonce_batch_messages_total', event.messages)
      count('justonce_batch_seconds_total', event.ms / 1_000)
      return
    case 'rolled-back':
      add('justonce_rollbacks_total', event.reason)
      return
    case 'intent-done':
      add('justonce_intents_total', event.effect, 'done')
      return
    case 'intent-failed':
      add('justonce_intents_total', event.effect, 'failed')
      return
    case 'intent-unknown':
      add('justonce_intents_total', event.effect, 'unknown')
      return
    case 'store-down':
      add('justonce_store_down_total')
      return
    case 'breaker-opened':
      add('justonce_breakers_opened_total', event.handler)
      return
    case 'warning':
    case 'transport-notice':
      add('justonce_warnings_total', event.code)
      return
    case 'loop-failed':
      add('justonce_loop_failures_total', event.loop)
      return
  }
}
