import type { NewParkedMessage } from '../contracts/index.ts'
import { uuidv7 } from '../ids/index.ts'
import { isRecorded } from './claim.ts'
import type { Engine } from './engine.ts'
import { unrouted } from './parked-rows.ts'
import { whyUndone } from './why-undone.ts'
import type { Run } from './work.ts'

/**
 * Whether the store takes a message of no peculiarity where it has refused this one. Only then is the message to blame:
 * a right that is missing, or a table, would refuse them all. What is tried is undone again.
 */
export async function takesOthers<Tx>(engine: Engine<Tx>, run: Run<Tx> | undefined): Promise<boolean> {
  const { store, clock } = engine
  const key = `probe-${uuidv7(clock.now().getTime())}`
  const undo = new Error('only a probe')
  try {
    return await store.transaction(
      async (tx) => {
        if (run !== undefined && isRecorded(run))
          await store.inbox.claim(tx, [{ handler: run.handler.name, key, born: run.born, fingerprint: undefined }])
        await store.parking.park(tx, [probe(key)])
        throw undo
      },
      { lockTimeoutMs: engine.timing.aloneLockTimeoutMs, idleTimeoutMs: engine.timing.idleTimeoutMs },
    )
  } catch (error) {
    if (error !== undo) await whyUndone(engine, error)
    return error === undo
  }
}

function probe(key: string): NewParkedMessage {
  return {
    handler: unrouted,
    key,
    messageId: key,
    type: 'probe',
    source: 'probe',
    message: { envelope: new Uint8Array(2), body: new Uint8Array(2) },
    state: 'dead',
    attempts: 0,
    delayMs: 0,
    step: 0,
    independent: true,
    orderKey: undefined,
    reason: 'MESSAGE_NOT_KEPT',
    errors: '[]',
    shape: '',
  }
}
