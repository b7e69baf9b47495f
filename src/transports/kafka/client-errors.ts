import { isJustonceError, JustonceError } from '../../errors/index.ts'
import type { CommitResponse } from './client-shapes.ts'

/** Error codes of the protocol, as found in a fetch response. */
export const offsetOutOfRange = 1

/** Whether this error or one nested in it has the property value. The client nests errors of retries, brokers and partitions. */
export function says(error: unknown, property: string, value: unknown): boolean {
  return everyError(error).some((each) => (each as unknown as Record<string, unknown>)[property] === value)
}

/** Errors that no retry can fix are translated into our own. For all others, the result is `undefined`. */
export function asSetupError(error: unknown, where: string): JustonceError | undefined {
  if (isJustonceError(error)) return error
  const unknownTopic = everyError(error).find(saysUnknownTopic)
  if (unknownTopic !== undefined) {
    return new JustonceError('BROKER_SETUP', {
      message: `${unknownTopic.message.slice(0, -1)} at ${where}.`,
      cause: error,
    })
  }
  if (says(error, 'code', 'PLT_KFK_UNSUPPORTED_API') || says(error, 'apiId', 'UNSUPPORTED_VERSION')) {
    const message = `The broker at ${where} is too old, or no Kafka: ${messageOf(error)}`
    return new JustonceError('BROKER_SETUP', { message, cause: error })
  }
  if (says(error, 'code', 'PLT_KFK_UNSUPPORTED_COMPRESSION')) {
    return new JustonceError('BROKER_SETUP', { message: `A record cannot be read: ${messageOf(error)}`, cause: error })
  }
  if (refused.some((apiId) => says(error, 'apiId', apiId))) {
    const message = `The broker at ${where} does not allow it: ${messageOf(error)}`
    return new JustonceError('BROKER_REFUSED', { message, cause: error })
  }
  if (unusable.some((apiId) => says(error, 'apiId', apiId))) {
    const message = `The broker at ${where} cannot work with this setup: ${messageOf(error)}`
    return new JustonceError('BROKER_SETUP', { message, cause: error })
  }
  return undefined
}

export function isUnknownTopic(error: unknown): boolean {
  return everyError(error).some(saysUnknownTopic)
}

export function isTopicRefused(error: unknown): boolean {
  return says(error, 'apiId', 'TOPIC_AUTHORIZATION_FAILED')
}

/** A partition of the topic has no leader. The client then reports nothing about the whole topic. */
export function hasNoLeader(error: unknown): boolean {
  return says(error, 'apiId', 'LEADER_NOT_AVAILABLE')
}

/** The error concerns one topic and must not stop the others. */
export function isOfOneTopic(error: unknown): boolean {
  return isUnknownTopic(error) || isTopicRefused(error) || hasNoLeader(error)
}

/** The broker has answered, but the client cannot read the answer: a record batch is corrupt or has an unknown compression. */
export function isUnreadable(error: unknown): boolean {
  if (says(error, 'code', 'PLT_KFK_UNSUPPORTED_COMPRESSION')) return true
  // All other errors carry a code of the client.
  return !everyError(error).some((each) => String((each as { code?: unknown }).code).startsWith('PLT_KFK_'))
}

/** The answer did not arrive in full within the client's timeout. */
export function isTimeout(error: unknown): boolean {
  return says(error, 'message', 'Request timed out')
}

function saysUnknownTopic({ message }: Error): boolean {
  return /^Unknown topic /.test(message)
}

const refused = [
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
]

const unusable = ['INVALID_GROUP_ID', 'INVALID_SESSION_TIMEOUT', 'INCONSISTENT_GROUP_PROTOCOL']

/** Protocol error codes that concern one partition and not the group: it is unknown, or access is denied. */
const ofOnePartition = new Set([3, 29])

/** The partitions whose positions the group refused. Empty if the whole commit failed. */
export function notTaken(error: unknown): readonly { readonly topic: string; readonly partition: number }[] {
  const answers = everyError(error).map((each) => (each as { response?: CommitResponse }).response?.topics)
  const found = answers.find((topics) => topics !== undefined) ?? []
  const failed = found.flatMap(({ name, partitions }) =>
    partitions
      .filter(({ errorCode }) => errorCode !== 0)
      .map(({ partitionIndex, errorCode }) => ({ topic: name, partition: partitionIndex, errorCode })),
  )
  return failed.every(({ errorCode }) => ofOnePartition.has(errorCode)) ? failed : []
}

export function unreachable(error: unknown, where: string): JustonceError {
  const message = `No Kafka answers at ${where}: ${messageOf(error)}`
  return asSetupError(error, where) ?? new JustonceError('BROKER_UNREACHABLE', { message, cause: error })
}

export function messageOf(error: unknown): string {
  const deepest = everyError(error).at(-1)
  const text = deepest === undefined ? String(error) : deepest.message
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function everyError(error: unknown): readonly Error[] {
  if (!(error instanceof Error)) return []
  const inner = error instanceof AggregateError ? error.errors : []
  return [error, ...inner.flatMap(everyError), ...everyError(error.cause)]
}
