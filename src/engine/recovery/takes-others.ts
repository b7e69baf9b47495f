import type { NewParkedMessage } from '../../contracts/index.ts'
import { packMessage } from '../../encoding/packed-message.ts'
import { unrouted } from '../../encoding/unrouted.ts'
import { uuidv7 } from '../../ids/index.ts'
import { isRecorded } from '../batch/claim.ts'
import type { Engine } from '../engine.ts'
import type { Run } from '../items.ts'
import { isDown } from './is-down.ts'

/**
 * Whether the store accepts an ordinary message where it refused this one. Only then is the message to blame: a missing
 * permission or table would affect every message. The probe is rolled back.
 */
export async function takesOthers<Tx>(engine: Engine<Tx>, run?: Run<Tx>): Promise<boolean> {
  const { store, clock } = engine
  const key = `probe-${uuidv7(clock.now().getTime())}`
  const undo = new Error('only a probe')
  try {
    return await store.transaction(
      async (tx) => {
        if (run === undefined || isRecorded(run)) {
          const record = { handler: run?.handler.name ?? unrouted, key, born: run?.born }
          await store.inbox.claim(tx, [{ ...record, fingerprint: undefined }])
          await store.inbox.update(tx, [{ ...record, state: 'parked' }])
        }
        await store.parking.park(tx, [probe(key)])
        await store.queue?.send(tx, '>probe', [{ key: undefined, message: emptyMessage }])
        throw undo
      },
      { lockTimeoutMs: engine.timing.longestLockTimeoutMs, idleTimeoutMs: engine.timing.idleTimeoutMs },
    )
  } catch (error) {
    if (error === undo) return true
    // Then the caller must wait for it.
    if (store.classify(error) === 'unavailable' && (await isDown(engine))) throw error
    return false
  }
}

const emptyMessage = packMessage({ source: 'probe', headers: {}, body: new Uint8Array(2) })

function probe(key: string): NewParkedMessage {
  return {
    handler: unrouted,
    key,
    messageId: key,
    type: 'probe',
    source: 'probe',
    message: emptyMessage,
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
