import type { InboxRecord, RecordKey, StoredParkedMessage } from '../contracts/index.ts'
import { isOutgoing } from '../encoding/outgoing-queue.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import type { Engine } from '../engine/engine.ts'
import type { Handler } from '../engine/handler.ts'
import { isKey } from '../engine/intake/check-envelope.ts'
import { prepare } from '../engine/intake/prepare.ts'
import { isOfSameContent } from '../engine/intake/same-content.ts'
import { type Run, rowKeyOf } from '../engine/items.ts'
import type { LetterRun } from '../operations/index.ts'

interface Candidate<Tx> {
  readonly handler: Handler<Tx>
  readonly key: string
  /** `undefined` if it cannot be compared with the content of a record. */
  readonly run: Run<Tx> | undefined
}

/** The runs of each message, one list per dead letter, with one lookup of the records for all of them. */
export async function runsOfLetters<Tx>(
  engine: Engine<Tx>,
  letters: readonly StoredParkedMessage[],
): Promise<readonly (readonly LetterRun[])[]> {
  const candidates: (readonly Candidate<Tx>[])[] = []
  for (const letter of letters) candidates.push(await candidatesOf(engine, letter))
  const records = await recordsOf(engine, candidates.flat().flatMap(namesOf))
  let next = 0
  return candidates.map((ofLetter) =>
    ofLetter.map((candidate) => {
      const { handler, run } = candidate
      const known = namesOf(candidate).map(() => records[next++])
      const isDone = known.some(
        (record) => record?.state === 'processed' && (run === undefined || isOfSameContent(record, run)),
      )
      return { handler: handler.name, isDone, isKnown: known.some((record) => record !== undefined) }
    }),
  )
}

/** Based on the body that was received, because that is what the other handlers were given. */
async function candidatesOf<Tx>(engine: Engine<Tx>, letter: StoredParkedMessage): Promise<readonly Candidate<Tx>[]> {
  const { message, originalBody, reason } = letter
  // An outgoing message is for consumers elsewhere.
  if (isOutgoing(letter.handler)) return []
  // The store could not hold its key, and asking for it could make the lookup of all the others fail.
  if (reason === 'MESSAGE_NOT_KEPT') return []
  const received = unpackLetter({ ...message, body: originalBody ?? message.body })
  const prepared = await prepare(engine, { message: received }, { letter })
  if (prepared.kind === 'work')
    return prepared.work.runs.map((run) => ({ handler: run.handler, key: rowKeyOf(run), run }))
  // No handler can take it now, but handlers may have taken it before.
  const { id, type } = received
  // Nothing can be recorded under an invalid key, and a database may refuse the query.
  if (!isKey(id) || typeof type !== 'string') return []
  const byId = engine.handlersOf(type).filter(({ identify }) => identify === undefined)
  return byId.map((handler) => ({ handler, key: id, run: undefined }))
}

/** A renamed handler may have its record under an old name. */
function namesOf<Tx>({ handler, key }: Candidate<Tx>): RecordKey[] {
  return [handler.name, ...handler.formerly].map((name) => ({ handler: name, key }))
}

const recordsAtOnce = 5_000

async function recordsOf<Tx>(
  { store }: Engine<Tx>,
  keys: readonly RecordKey[],
): Promise<readonly (InboxRecord | undefined)[]> {
  const records: (InboxRecord | undefined)[] = []
  for (let start = 0; start < keys.length; start += recordsAtOnce)
    records.push(...(await store.inbox.find(keys.slice(start, start + recordsAtOnce))))
  return records
}
