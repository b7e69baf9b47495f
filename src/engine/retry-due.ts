import type { Delivery, StoredParkedMessage } from '../contracts/index.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { JustonceError } from '../errors/index.ts'
import type { Engine } from './engine.ts'
import { handleSorted } from './handle-deliveries.ts'
import { unrouted } from './parked-rows.ts'
import { prepare } from './prepare.ts'
import { emptyReport } from './report.ts'
import { nothingTaken, nothingYet, place, type SortedOut } from './sort-out.ts'
import type { Source } from './source.ts'
import { isOwnedBy, type Origin, type Work } from './work.ts'

/** Covers the time from a reservation to the lock that follows it; whoever dies in between delays the message by so much. */
const reservedForMs = 5_000

/** Reserves parked messages for their next attempt. Without those of handlers whose breaker lets nothing through. */
export function reserveDue<Tx>(engine: Engine<Tx>, limit: number): Promise<readonly StoredParkedMessage[]> {
  const known = engine.handlerNames.flatMap((name) => ({ name, handler: engine.handlerNamed(name) }))
  const ready = known.filter(({ handler }) => handler !== undefined && engine.breakers.waitMs(handler) === 0)
  return engine.store.parking.reserve({
    limit,
    forMs: reservedForMs,
    handlers: [...ready.map(({ name }) => name), unrouted],
    pastDead: ready.flatMap(({ name, handler }) => (handler?.whenDead === 'continue' ? name : [])),
  })
}

export interface Retried {
  /** Their attempt has not come about: a breaker stopped them, or the time of their batch was up. */
  readonly untried: readonly StoredParkedMessage[]
  /** Hooks that are still running. */
  readonly background: readonly Promise<void>[]
}

/**
 * Gives parked messages their next attempt, through the same engine as everything else. Their rows are locked for as
 * long as the attempt takes, so that no other process, redelivery or redrive can meet them.
 */
export async function retryMessages<Tx>(
  engine: Engine<Tx>,
  source: Source,
  letters: readonly StoredParkedMessage[],
  suspicionOf: (letter: StoredParkedMessage) => Pick<Origin, 'suspect' | 'condemned'> = () => ({}),
): Promise<Retried> {
  const sorted = nothingYet<Tx>()
  const taken = nothingTaken()
  const letterOf = new Map<Delivery, StoredParkedMessage>()
  for (const letter of letters) {
    const work = await restore(engine, letter, suspicionOf(letter), sorted)
    if (work === undefined) continue
    letterOf.set(work.delivery, letter)
    place(engine, work, taken, sorted)
  }
  const { again, held, stopped, background } = await handleSorted(engine, source, sorted, emptyReport())
  const untried = [...again, ...held, ...stopped].map((delivery) => letterOf.get(delivery) as StoredParkedMessage)
  return { untried, background }
}

async function restore<Tx>(
  engine: Engine<Tx>,
  letter: StoredParkedMessage,
  suspicion: Pick<Origin, 'suspect' | 'condemned'>,
  { refusals }: Pick<SortedOut<Tx>, 'refusals'>,
): Promise<Work<Tx> | undefined> {
  const origin: Origin = { letter, ...suspicion }
  const delivery = { message: unpackLetter(letter.message) }
  const prepared = await prepare(engine, delivery, origin)
  if (prepared.kind === 'refused') {
    refusals.push(prepared.refusal)
    return undefined
  }
  const found = prepared.kind === 'work' ? prepared.work : { delivery, origin, runs: [] }
  if (letter.handler === unrouted) return found
  const handler = engine.handlerNamed(letter.handler)
  const runs = found.runs.filter((run) => run.handler === handler)
  if (runs.length === 0) {
    const message = `Handler ${letter.handler} no longer takes messages of type ${letter.type}.`
    refusals.push({ delivery, letter, error: new JustonceError('TYPE_UNKNOWN', { message }) })
    return undefined
  }
  // Earlier handlers of the message have their own records and rows, and the store has kept the order.
  const work: Work<Tx> = { ...found, runs: [] }
  const owned = runs.map((run) => ({ ...run, work, owner: isOwnedBy(letter, run.key) ? letter : undefined }))
  return Object.assign(work, { runs: owned })
}
