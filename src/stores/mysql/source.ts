import { JustonceError } from '../../errors/index.ts'
import type { AbortWatch } from '../sql/abort-watch.ts'
import type { MysqlConnectionShape, MysqlPoolShape, MysqlPromisePoolShape } from './client-shapes.ts'
import { MysqlConnection } from './connection.ts'
import { explained } from './errors.ts'
import { runOn } from './runner.ts'
import { askServer, type Server } from './session.ts'

export interface CheckOutOptions {
  readonly giveUpAfterMs?: number | undefined
  readonly watch?: AbortWatch | undefined
}

/** The user's pool. After `close` it gives nothing out; what is out already ends in its own time. */
export class ConnectionSource<Native extends MysqlConnectionShape> {
  readonly max: number
  readonly #pool: MysqlPromisePoolShape<Native>
  #server: Promise<Server> | undefined
  #isClosed = false

  constructor(pool: MysqlPoolShape<Native>) {
    this.#pool =
      'promise' in pool && typeof pool.promise === 'function' ? pool.promise() : (pool as MysqlPromisePoolShape<Native>)
    this.max = connectionLimitOf(pool)
  }

  async checkOut({ giveUpAfterMs, watch }: CheckOutOptions = {}): Promise<MysqlConnection<Native>> {
    if (this.#isClosed) throw new JustonceError('STORE_CLOSED', { message: 'The MySQL store has been closed.' })
    const coming = this.#pool.getConnection()
    try {
      const inTime = giveUpAfterMs === undefined ? coming : within(giveUpAfterMs, coming)
      const native = await (watch?.until(inTime) ?? inTime)
      return new MysqlConnection(native, { server: await this.#serverBehind(native), terminate: this.#terminate })
    } catch (error) {
      // One that comes too late goes back.
      coming.then((late) => late.release()).catch(() => {})
      throw explained(error)
    }
  }

  close(): void {
    this.#isClosed = true
  }

  #serverBehind(native: Native): Promise<Server> {
    this.#server ??= askServer({ run: (sql) => runOn(native, sql) }).catch((error) => {
      this.#server = undefined
      throw error
    })
    return this.#server
  }

  readonly #terminate = (threadId: number): void => {
    void this.#kill(threadId).catch(() => {})
  }

  async #kill(threadId: number): Promise<void> {
    const native = await this.#pool.getConnection()
    try {
      await native.query({ sql: `KILL ${threadId}` })
    } finally {
      native.release()
    }
  }
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void =>
      reject(new JustonceError('STORE_BUSY', { message: `All connections of the pool were in use for ${ms} ms.` }))
    const timer = setTimeout(giveUp, ms)
    promise.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}

interface PoolWithConfig {
  readonly config?: { readonly connectionLimit?: unknown }
  readonly pool?: PoolWithConfig
}

/** mysql2 keeps it in the pool with callbacks, which is inside the one with promises. */
function connectionLimitOf(pool: object): number {
  const { config, pool: inner } = pool as PoolWithConfig
  const limit = config?.connectionLimit ?? inner?.config?.connectionLimit
  return typeof limit === 'number' && limit > 0 ? limit : 10
}
