import { JustonceError } from '../../errors/index.ts'
import type { AnswerWatch } from '../sql/answer-watch.ts'
import { type CheckOutOptions, checkedOut } from '../sql/checked-out.ts'
import { withSomeConnection } from '../sql/with-some-connection.ts'
import type { MysqlConnectionShape, MysqlPoolShape, MysqlPromisePoolShape } from './client-shapes.ts'
import { MysqlConnection } from './connection.ts'
import { explained, isLostConnection } from './errors.ts'
import { askServer, configuredDatabase, type Server } from './server.ts'

/** The user's pool. After `close` it hands out no connections; those already handed out end in their own time. */
export class Connections<Native extends MysqlConnectionShape> {
  readonly max: number
  readonly #pool: MysqlPromisePoolShape<Native>
  readonly #database: string | undefined
  #server: Promise<Server> | undefined
  readonly #answers: AnswerWatch
  #isClosed = false

  constructor(pool: MysqlPoolShape<Native>, answers: AnswerWatch) {
    this.#answers = answers
    this.#pool =
      'promise' in pool && typeof pool.promise === 'function' ? pool.promise() : (pool as MysqlPromisePoolShape<Native>)
    this.max = connectionLimitOf(pool)
    this.#database = configuredDatabase(pool)
  }

  async checkOut(options: CheckOutOptions = {}): Promise<MysqlConnection<Native>> {
    if (this.#isClosed) throw new JustonceError('STORE_CLOSED', { message: 'The MySQL store has been closed.' })
    try {
      const native = await checkedOut(this.#pool.getConnection(), options, (late) => late.release())
      const server = await this.serverBehind(native, () => native.destroy()).catch((error: unknown) => {
        native.release()
        throw error
      })
      return new MysqlConnection(native, { server, terminate: this.#terminate, answers: this.#answers }, options)
    } catch (error) {
      throw explained(error)
    }
  }

  /** What is known about the server; asks it if necessary. */
  async server(): Promise<Server> {
    const connection = await this.checkOut()
    void connection.giveBack()
    return connection.server
  }

  close(): void {
    this.#isClosed = true
  }

  /** Asks on the given connection, unless the answer is already known. */
  async serverBehind(native: Pick<Native, 'query'>, giveUp = () => {}): Promise<Server> {
    try {
      this.#server ??= this.#answers.until(askServer(native, this.#database), giveUp)
      return await this.#server
    } catch (error) {
      this.#server = undefined
      throw error
    }
  }

  readonly #terminate = (threadId: number): void => {
    void withSomeConnection(this.max, () => this.#kill(threadId), isLostConnection)
  }

  async #kill(threadId: number): Promise<void> {
    const native = await this.#pool.getConnection()
    try {
      await this.#answers.until(native.query({ sql: `KILL ${threadId}` }), () => native.destroy())
    } finally {
      native.release()
    }
  }
}

interface PoolWithConfig {
  readonly config?: { readonly connectionLimit?: unknown }
  readonly pool?: PoolWithConfig
}

/** mysql2 keeps it in the callback pool, which is inside the promise pool. */
function connectionLimitOf(pool: object): number {
  const { config, pool: inner } = pool as PoolWithConfig
  const limit = config?.connectionLimit ?? inner?.config?.connectionLimit
  return typeof limit === 'number' && limit > 0 ? limit : 10
}
