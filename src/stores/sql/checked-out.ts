import { JustonceError } from '../../errors/index.ts'
import type { AbortWatch } from './abort-watch.ts'

export interface CheckOutOptions {
  readonly giveUpAfterMs?: number | undefined
  readonly watch?: AbortWatch | undefined
  /** How long its statements may wait for locks, in addition to the limit of an answer. */
  readonly lockWaitMs?: number | undefined
  /** For statements that may take long, such as the building of an index: there is no limit. */
  readonly isPatient?: boolean | undefined
}

/** Waits a limited time for a client from the pool. A client that arrives too late is returned to the pool. */
export function checkedOut<Client>(
  promise: Promise<Client>,
  { giveUpAfterMs, watch }: CheckOutOptions,
  giveBack: (client: Client) => void,
): Promise<Client> {
  const inTime = giveUpAfterMs === undefined ? promise : within(giveUpAfterMs, promise)
  const wanted = watch?.until(inTime) ?? inTime
  if (wanted !== promise) wanted.catch(() => promise.then(giveBack, () => {}))
  return wanted
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void =>
      reject(new JustonceError('STORE_BUSY', { message: `All connections of the pool were in use for ${ms} ms.` }))
    const timer = setTimeout(giveUp, ms)
    promise.then(
      (client) => {
        clearTimeout(timer)
        resolve(client)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
