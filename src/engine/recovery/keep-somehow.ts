import type { Delivery } from '../../contracts/index.ts'
import { anyText } from '../../encoding/any-text.ts'
import { packMessage } from '../../encoding/packed-message.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { Undone } from '../batch/undone.ts'
import type { Engine } from '../engine.ts'
import { type Item, letterOf, type Refusal } from '../items.ts'
import { takesOthers } from './takes-others.ts'

/** Something that can be neither handled nor parked. */
export interface NotKept<Tx> {
  readonly item: Item<Tx>
  /** Why it could not be parked. */
  readonly error: unknown
  /** It has not failed, and only has to wait for its turn. */
  readonly isWaiting: boolean
}

/**
 * The last resort. The message alone is held, for longer each time, and everything else goes on. If that does not help
 * although the store takes others, the message is to blame, and becomes a dead letter in a form that fits every database;
 * where it is too large, a note of it, at once. Resolves to that; undefined: it is held.
 * What only waits for its turn and is too large to be parked is held until it need not wait any more. Where a whole lane
 * would stand still for it, a note of it is left instead: its lane still has it.
 */
export async function lastResort<Tx>(
  engine: Engine<Tx>,
  { item, error, isWaiting }: NotKept<Tx>,
): Promise<Refusal | undefined> {
  const { delivery, work, refusal } = item
  const { letter, mark } = work?.origin ?? refusal ?? {}
  // Only what is known to be too large loses its body: a full disk takes small rows, too.
  const isNote = await isTooLarge(engine, delivery)
  const holdsUpOthers = (delivery.place ?? delivery.lane) !== undefined
  if (isNote && isWaiting && !holdsUpOthers) return undefined
  // A parked row is kept already: it can wait.
  const mayBeToBlame = letter === undefined && timesStuck(engine, item) >= patience
  const isToBlame = isNote || (mayBeToBlame && (await takesOthers(engine, work?.runs[0])))
  if (!isToBlame) return undefined
  const failure = refusal ?? work?.runs.find((run) => run.failure !== undefined)?.failure ?? { error }
  return { delivery, letter, mark, error: notKept(failure.error, error), form: isNote ? 'note' : 'plain' }
}

async function isTooLarge<Tx>({ store }: Engine<Tx>, { message }: Delivery): Promise<boolean> {
  const limits = await store.limits?.()
  if (limits === undefined) return false
  const { envelope, body } = packMessage(message)
  return envelope.length + body.length > limits.messageBytes
}

/**
 * The store has refused one of its own statements: a right is missing. That is no failure of a message or its handler, and
 * no conflict that passes by itself: nothing is parked for it.
 */
export function isDenied(error: unknown): boolean {
  const isOurs = error instanceof Undone && (error.reason === 'held' || error.reason === 'unrecorded')
  const cause = isOurs ? error.cause : error
  return isJustonceError(cause, 'STORE_DENIED')
}

const shortestPauseMs = 1_000
const longestPauseMs = 60_000
/** So often it may be a bad moment. */
const patience = 2
const deliveriesStuck = new WeakMap<Delivery, number>()

/** A row is another delivery each time that it is taken. The oldest are forgotten: that makes a pause shorter, no more. */
const lettersStuck = new WeakMap<object, Map<string, number>>()
const mostLettersStuck = 10_000

function timesStuck<Tx>(engine: Engine<Tx>, item: Item<Tx>): number {
  const letter = letterOf(item)
  if (letter === undefined) return deliveriesStuck.get(item.delivery) ?? 0
  return lettersStuck.get(engine)?.get(`${letter.handler}\0${letter.key}`) ?? 0
}

function countStuck<Tx>(engine: Engine<Tx>, item: Item<Tx>, times: number): void {
  const letter = letterOf(item)
  if (letter === undefined) {
    deliveriesStuck.set(item.delivery, times)
    return
  }
  const letters = lettersStuck.get(engine) ?? new Map<string, number>()
  lettersStuck.set(engine, letters)
  const name = `${letter.handler}\0${letter.key}`
  letters.delete(name)
  letters.set(name, times)
  if (letters.size > mostLettersStuck) letters.delete(letters.keys().next().value as string)
}

/** It is held, for longer each time, and it is said why. Answers for how long. */
export function stuck<Tx>(engine: Engine<Tx>, item: Item<Tx>, error: unknown): number {
  const before = timesStuck(engine, item)
  const pauseMs = Math.min(shortestPauseMs * 2 ** Math.min(before, 20), longestPauseMs)
  countStuck(engine, item, before + 1)
  const { id: messageId, type } = item.delivery.message
  engine.events.emit({ kind: 'stuck', messageId, type, error, pauseMs })
  return pauseMs
}

function notKept(failure: unknown, reason: unknown): JustonceError {
  const why = reason instanceof Error ? reason.message : anyText(reason)
  return new JustonceError('MESSAGE_NOT_KEPT', {
    message: `The store could not keep the message as it came: ${why}`,
    cause: failure,
  })
}
