import type { Store, StoredParkedMessage } from '../contracts/index.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { destinationOf, isOutgoing, queueUnder } from '../encoding/outgoing-queue.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { checkOptions } from '../errors/index.ts'
import { checkText } from './letter-filter.ts'
import type { DelayedFilter, DelayedMessage } from './outgoing-types.ts'
import { mostBytes } from './pages.ts'
import { readableBody } from './readable-body.ts'
import type { Page } from './types.ts'
import { checkWhole, mostListed } from './who-and-why.ts'

/** Messages of different types may have the same id, but hardly more of them than this. */
const mostOfOneId = 1_000

/** One page of the messages that wait for their time. */
export async function listDelayed<Tx>(
  { parking }: Pick<Store<Tx>, 'parking'>,
  filter: DelayedFilter,
  page: Page,
): Promise<readonly DelayedMessage[]> {
  checkOptions(filter, ['id', 'type', 'businessId'], 'A filter of delayed messages')
  checkOptions(page, ['limit', 'after'], 'The page of a list')
  const { id, type, businessId } = filter
  const { limit = 100, after = 0 } = page
  if (id !== undefined) checkText(id, 'id of the filter')
  if (type !== undefined) checkText(type, 'type of the filter')
  if (businessId !== undefined) checkText(businessId, 'businessId of the filter')
  checkWhole(limit, 'limit', 1, mostListed)
  checkWhole(after, 'after', 0, Number.MAX_SAFE_INTEGER)
  const fitted = {
    messageId: id && fittedText(id),
    type: type && fittedText(type),
    businessId: businessId && fittedText(businessId),
  }
  const found = { kind: 'delayed', ...fitted } as const
  return (await parking.list(found, { limit, after, maxBytes: mostBytes })).map(describeDelayed)
}

/**
 * A message that is being put into its queue at this moment is no longer cancelled. With `names`, only messages that wait under one
 * of them are.
 */
export async function cancelDelayed<Tx>(
  { parking }: Pick<Store<Tx>, 'parking'>,
  tx: Tx,
  id: string,
  names: readonly (string | undefined)[] = [undefined],
): Promise<boolean> {
  checkText(id, 'The id of a message to cancel')
  let cancelled = 0
  for (const handler of names) {
    const filter = { kind: 'delayed', messageId: fittedText(id), handler } as const
    cancelled += (await parking.edit(tx, filter, { kind: 'remove' }, mostOfOneId)).length
  }
  return cancelled > 0
}

function describeDelayed({ sequence, handler, messageId, type, nextAt, parkedAt, message }: StoredParkedMessage) {
  const { id = messageId, key, headers, body } = unpackLetter(message)
  const queue = queueUnder(handler)
  return {
    sequence,
    id,
    type,
    destination: isOutgoing(queue) ? destinationOf(queue) : `queue:${queue}`,
    key,
    dueAt: nextAt,
    publishedAt: parkedAt,
    headers,
    body: readableBody(body),
  }
}
