import type { ParkedFilter, StoredParkedMessage } from '../contracts/index.ts'
import { addErrorNote, readErrorNotes } from '../encoding/error-notes.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { effectOf, intentHandler } from '../encoding/intent-name.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { checkFlag, checkOptions, JustonceError } from '../errors/index.ts'
import { databaseNow } from '../facts/index.ts'
import { keepAudit } from './audit.ts'
import { checkIntentKey } from './intent-key.ts'
import type { IntentCounts, IntentKey, IntentOperations, IntentState, IntentView } from './intent-types.ts'
import { mostBytes } from './pages.ts'
import { readableBody } from './readable-body.ts'
import { encodedResult, type Resolution, settleByHand } from './resolve-intent.ts'
import { cancelReservation, checkReservation, reservationUnderWay } from './resolve-reservation.ts'
import type { Site } from './site.ts'
import type { Page, WhoAndWhy } from './types.ts'
import { checkWhoAndWhy, checkWhole, mostListed } from './who-and-why.ts'

const states: readonly IntentState[] = ['pending', 'running', 'waiting', 'unknown', 'given-up']

export function intentOperations<Tx>(site: Site<Tx>): IntentOperations {
  const { store } = site
  return {
    async list(filter = {}, page = {}) {
      checkOptions(
        filter,
        ['effect', 'state', 'needsPerson', 'key', 'idempotencyKey', 'businessId', 'since', 'before'],
        'A filter of intents',
      )
      return await listIntents(site, filter, page)
    },
    async get(key) {
      const { effect, key: name } = checkIntentKey(key)
      const [row] = await store.parking.list(
        { kind: 'intent', handler: intentHandler(effect), key: name },
        { limit: 1 },
      )
      return row && describeIntent(row, site.clock.now())
    },
    counts: async () => await countIntents(site),
    resolve: async (key, resolution, whoAndWhy) => await resolve(site, checkIntentKey(key), resolution, whoAndWhy),
  }
}

async function listIntents<Tx>(
  { store, clock }: Site<Tx>,
  { effect, state, needsPerson, idempotencyKey, businessId, ...rest }: Parameters<IntentOperations['list']>[0] & object,
  page: Page,
): Promise<readonly IntentView[]> {
  checkOptions(page, ['limit', 'after'], 'The page of a list')
  const { limit = 100, after = 0 } = page
  checkWhole(limit, 'limit', 1, mostListed)
  checkWhole(after, 'after', 0, Number.MAX_SAFE_INTEGER)
  if (state !== undefined && !states.includes(state))
    throw new JustonceError('OPTION_INVALID', {
      message: `state is ${String(state)}, not one of ${states.join(', ')}.`,
    })
  checkFlag(needsPerson, 'needsPerson of the filter')
  const now = clock.now()
  const filter: ParkedFilter = {
    ...rest,
    kind: 'intent',
    handler: effect === undefined ? undefined : intentHandler(effect),
    messageId: idempotencyKey,
    businessId: businessId && fittedText(businessId),
    state: needsPerson === undefined ? undefined : needsPerson ? 'dead' : 'waiting',
    ...(state !== undefined && filterOf(state)),
  }
  const isWanted = (view: IntentView): boolean =>
    (state ?? view.state) === view.state && (needsPerson ?? view.needsPerson) === view.needsPerson
  const found: IntentView[] = []
  for (let from = after; found.length < limit; ) {
    const rows = await store.parking.list(filter, { limit, after: from, maxBytes: mostBytes })
    const last = rows.at(-1)
    if (last === undefined) break
    from = last.sequence
    const views = rows.map((row) => describeIntent(row, now))
    found.push(...views.filter(isWanted))
  }
  return found.slice(0, limit)
}

function filterOf(state: IntentState): ParkedFilter {
  if (state === 'given-up') return { state: 'dead', reason: 'INTENT_GIVEN_UP' }
  return state === 'unknown' ? {} : { state: 'waiting' }
}

export function describeIntent(row: StoredParkedMessage, now: Date): IntentView {
  const { id = '', body, sentAt } = unpackLetter(row.message)
  return {
    effect: effectOf(row.handler),
    key: row.key,
    idempotencyKey: id,
    state: stateOf(row, now),
    causedBy: row.source === row.handler ? undefined : row.source,
    businessId: row.businessId,
    needsPerson: row.state === 'dead',
    payload: readableBody(body),
    attempts: row.attempts + row.begun,
    errors: readErrorNotes(row.errors).map(({ at, message }) => ({ at: new Date(at), message })),
    intendedAt: sentAt ?? row.parkedAt,
    changedAt: row.changedAt,
    nextAt: row.state === 'dead' ? undefined : row.nextAt,
    sequence: row.sequence,
  }
}

function stateOf({ state, reason, begun, nextAt }: StoredParkedMessage, now: Date): IntentState {
  if (state === 'dead') return reason === 'INTENT_GIVEN_UP' ? 'given-up' : 'unknown'
  if (begun > 0) return nextAt > now ? 'running' : 'unknown'
  if (reason === 'INTENT_UNKNOWN') return 'unknown'
  return reason === 'INTENT_PENDING' ? 'pending' : 'waiting'
}

/** From tallies alone: an intent whose call is running counts by what is known of its earlier attempts. */
async function countIntents<Tx>({ store }: Site<Tx>): Promise<Readonly<Record<string, IntentCounts>>> {
  const counts: Record<string, { -readonly [Name in keyof IntentCounts]: IntentCounts[Name] }> = {}
  for (const each of await store.parking.tally({ kind: 'intent' }, ['handler', 'state', 'reason'])) {
    const effect = effectOf(each.handler)
    counts[effect] ??= { pending: 0, waiting: 0, unknown: 0, needsPerson: 0, givenUp: 0, oldest: each.firstAt }
    const of = counts[effect]
    if (each.state === 'dead' && each.reason === 'INTENT_GIVEN_UP') of.givenUp += each.count
    else if (each.state === 'dead' || each.reason === 'INTENT_UNKNOWN') of.unknown += each.count
    else if (each.reason === 'INTENT_PENDING') of.pending += each.count
    else of.waiting += each.count
    if (each.state === 'dead') of.needsPerson += each.count
    if (each.firstAt < of.oldest) of.oldest = each.firstAt
  }
  return counts
}

async function resolve<Tx>(
  site: Site<Tx>,
  { effect, key }: IntentKey,
  resolution: Resolution,
  whoAndWhy: WhoAndWhy,
): Promise<void> {
  const { by, why } = checkWhoAndWhy(whoAndWhy, 'resolve()')
  const result = encodedResult(resolution)
  const { store, clock } = site
  const now = await databaseNow(store)
  const handler = intentHandler(effect)
  const [row] = await store.parking.list({ kind: 'intent', handler, key }, { limit: 1 })
  const named = `The intent ${JSON.stringify(key)} of the effect ${effect}`
  if (row === undefined) throw new JustonceError('INTENT_NOT_FOUND', { message: `${named} is not there.` })
  // An attempt may be running, and what it does would contradict the person.
  if (row.begun > 0 && row.nextAt > now)
    throw new JustonceError('INTENT_NOT_FOUND', {
      message: `${named} is being called now. Its outcome is known at ${row.nextAt.toISOString()} at the latest.`,
    })
  const reservation = await reservationUnderWay(store, row)
  if (reservation !== undefined) checkReservation(reservation, named, resolution.as)
  const note = new Error(`${by} resolved it as ${resolution.as}${why === '' ? '' : `: ${why}`}`)
  const errors = addErrorNote(row.errors, note, clock.now())
  const isOurs = await store.transaction(async (tx) => {
    const [isTaken] = await store.parking.take(tx, [row])
    if (!isTaken) return false
    const isCancelled = reservation !== undefined && resolution.as === 'discarded'
    if (isCancelled && !(await cancelReservation(store, tx, reservation, note.message))) return false
    await settleByHand(site, tx, { row, as: isCancelled ? 'again' : resolution.as, result, errors })
    const subject = {
      effect,
      key,
      idempotencyKey: row.messageId,
      as: resolution.as,
      ...('result' in resolution && { result: resolution.result }),
    }
    await keepAudit(site, tx, { action: 'resolve', by, why, subject })
    return true
  })
  if (!isOurs)
    throw new JustonceError('INTENT_NOT_FOUND', { message: `${named} was changed by somebody else meanwhile.` })
  site.changed({ kind: 'intent-resolved' })
}
