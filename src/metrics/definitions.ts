export interface MetricDefinition {
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly labels: readonly string[]
  /** What stands for several values with the same labels, such as those that are `other`. Default: their sum. */
  readonly others?: 'sum' | 'largest'
}

/** What one process counts from its events. */
export const processMetrics = {
  justonce_processed_total: { type: 'counter', help: 'Messages that a handler has processed.', labels: ['handler'] },
  justonce_duplicates_total: {
    ...{ type: 'counter', labels: ['handler', 'known'] },
    help: 'Duplicates that were recognised: by this process (here) or by the database (store).',
  },
  justonce_failures_total: { type: 'counter', help: 'Attempts that failed.', labels: ['handler'] },
  justonce_retries_total: {
    type: 'counter',
    help: 'Attempts after the first, however they ended.',
    labels: ['handler'],
  },
  justonce_dead_letters_total: { type: 'counter', help: 'Messages that became dead letters.', labels: ['handler'] },
  justonce_expired_total: {
    type: 'counter',
    help: 'Messages that were skipped because they came too late.',
    labels: ['handler'],
  },
  justonce_published_total: { type: 'counter', help: 'Messages that handlers stored to be sent.', labels: [] },
  justonce_sent_total: { type: 'counter', help: 'Messages that a broker has taken.', labels: ['destination'] },
  justonce_send_failures_total: {
    type: 'counter',
    help: 'Messages that a broker has not taken; most are sent later.',
    labels: ['destination'],
  },
  justonce_batches_total: { type: 'counter', help: 'Batches.', labels: [] },
  justonce_batch_messages_total: { type: 'counter', help: 'Messages of all batches.', labels: [] },
  justonce_batch_seconds_total: {
    type: 'counter',
    help: 'Time that the batches took, one after the other.',
    labels: [],
  },
  justonce_rollbacks_total: { type: 'counter', help: 'Transactions that were rolled back.', labels: ['reason'] },
  justonce_intents_total: {
    type: 'counter',
    help: 'Calls outside, by how they ended: done, failed, unknown.',
    labels: ['effect', 'outcome'],
  },
  justonce_store_down_total: { type: 'counter', help: 'How often the store was down.', labels: [] },
  justonce_breakers_opened_total: {
    type: 'counter',
    help: 'How often a handler failed on everything.',
    labels: ['handler'],
  },
  justonce_warnings_total: { type: 'counter', help: 'Warnings and notices of transports, by code.', labels: ['code'] },
  justonce_loop_failures_total: { type: 'counter', help: 'Failures of background work.', labels: ['loop'] },
} as const satisfies Record<string, MetricDefinition>

/** What the store knows of all processes together. */
export const storeMetrics = {
  justonce_processes: { type: 'gauge', help: 'Processes that are alive.', labels: [] },
  justonce_dead_letters: {
    type: 'gauge',
    help: 'Dead letters: of a handler, of a destination that has refused them (>), or of no handler (-).',
    labels: ['handler'],
  },
  justonce_waiting_messages: { type: 'gauge', help: 'Messages that wait for another attempt.', labels: ['handler'] },
  justonce_waiting_oldest_seconds: {
    type: 'gauge',
    help: 'How long the message that has waited longest for another attempt has waited.',
    labels: [],
  },
  justonce_delayed_messages: {
    type: 'gauge',
    help: 'Published messages whose time to leave has not come.',
    labels: [],
  },
  justonce_intents_waiting: { type: 'gauge', help: 'Calls outside that are tried by themselves.', labels: [] },
  justonce_intents_unknown: { type: 'gauge', help: 'Calls outside that wait for a person.', labels: [] },
  justonce_queue_messages: { type: 'gauge', help: 'Messages in queues of the store.', labels: ['queue'] },
  justonce_queue_oldest_seconds: {
    type: 'gauge',
    help: 'How long the oldest message has been in a queue of the store.',
    others: 'largest',
    labels: ['queue'],
  },
  justonce_broker_messages: {
    type: 'gauge',
    help: 'Messages that wait at brokers, as far as they tell.',
    labels: ['source'],
  },
  justonce_outgoing_messages: { type: 'gauge', help: 'Published messages that are not sent.', labels: ['destination'] },
  justonce_outgoing_oldest_seconds: {
    type: 'gauge',
    help: 'How long the oldest published message has waited to be sent.',
    others: 'largest',
    labels: ['destination'],
  },
  justonce_handler_failure_ratio: {
    type: 'gauge',
    help: 'Share of attempts that failed in the last quarter of an hour.',
    others: 'largest',
    labels: ['handler'],
  },
  justonce_handler_seconds: {
    type: 'gauge',
    help: 'How long calls of a handler took in the last quarter of an hour.',
    others: 'largest',
    labels: ['handler', 'quantile'],
  },
  justonce_handler_paused: { type: 'gauge', help: '1 if an operator has paused the handler.', labels: ['handler'] },
  justonce_handler_breakers_open: {
    type: 'gauge',
    help: 'Processes in which the handler fails on everything.',
    labels: ['handler'],
  },
  justonce_alerts_firing: { type: 'gauge', help: '1 for each alert that fires.', others: 'largest', labels: ['rule'] },
  justonce_records: { type: 'gauge', help: 'Records, about: what the database knows without counting.', labels: [] },
  justonce_records_size_bytes: { type: 'gauge', help: 'Bytes of the records and their indexes, about.', labels: [] },
  justonce_horizon_seconds: { type: 'gauge', help: 'How far back the records can prove.', labels: [] },
} as const satisfies Record<string, MetricDefinition>

export type ProcessMetric = keyof typeof processMetrics
export type StoreMetric = keyof typeof storeMetrics
