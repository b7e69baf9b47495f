import type { Clock } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { brokerError } from './broker-errors.ts'
import type { AmqpConnection } from './client-shapes.ts'
import { orGiveUp } from './or-give-up.ts'

/** One connection, opened when it is needed and again when it was lost. */
export interface Link {
  /** The connection, and a channel that was made of it. */
  open<C>(create: (connection: AmqpConnection) => PromiseLike<C>): Promise<Opened<C>>
  /** What the client said of the connection that is open, or was the last. */
  whyLost(): unknown
  close(): Promise<void>
}

export interface Opened<C> {
  readonly connection: AmqpConnection
  readonly channel: C
}

export interface LinkOptions {
  connect(): PromiseLike<AmqpConnection>
  readonly timeoutMs: number
  readonly clock: Clock
}

/** How long a broker may take to answer when we leave. */
const farewellMs = 3_000

export function newLink({ connect, timeoutMs, clock }: LinkOptions): Link {
  let current: Promise<AmqpConnection> | undefined
  let lostBy: unknown

  const openNew = async (): Promise<AmqpConnection> => {
    const connecting = begin(connect)
    const connection = await orGiveUp(connecting, { clock, afterMs: timeoutMs })
    if (connection === undefined) {
      // It may still come about; nobody would know of it.
      void connecting.then((late) => late.close()).catch(() => {})
      throw new JustonceError('BROKER_UNREACHABLE', { message: `RabbitMQ did not answer within ${timeoutMs} ms.` })
    }
    // An error is followed by a close; without a listener it would end the process.
    lostBy = undefined
    connection.on('error', (error) => {
      lostBy = error
    })
    return connection
  }

  const forget = (opened: Promise<AmqpConnection>): void => {
    if (current === opened) current = undefined
  }

  const connected = (): Promise<AmqpConnection> => {
    if (current !== undefined) return current
    const opening: Promise<AmqpConnection> = openNew().catch((error: unknown) => {
      forget(opening)
      throw brokerError(error, 'No connection to RabbitMQ')
    })
    current = opening
    void opening.then((connection) => connection.on('close', () => forget(opening))).catch(() => {})
    return opening
  }

  return {
    async open(create) {
      const opening = connected()
      const connection = await opening
      try {
        return { connection, channel: await create(connection) }
      } catch (error) {
        // It may have been lost before anybody listened, and would never say so again.
        forget(opening)
        void begin(() => connection.close()).catch(() => {})
        throw error
      }
    },
    whyLost: () => lostBy,
    async close() {
      const opened = current
      current = undefined
      // One that is still being opened closes itself when it comes about.
      const opening = opened?.catch(() => undefined) ?? Promise.resolve(undefined)
      const connection = await orGiveUp(opening, { clock, afterMs: farewellMs })
      if (connection === undefined) void opening.then((late) => late?.close()).catch(() => {})
      if (connection === undefined) return
      const closed = await orGiveUp(
        begin(() => connection.close()).then(
          () => true,
          // It was closed already, which is as good.
          () => true,
        ),
        { clock, afterMs: farewellMs },
      )
      if (closed === undefined) destroySocket(connection)
    },
  }
}

/** A client may throw instead of rejecting: for a URL it cannot read, or a channel that is closed. */
async function begin<T>(call: () => PromiseLike<T>): Promise<T> {
  return call()
}

/** The other side does not answer our good-bye. */
function destroySocket({ connection }: AmqpConnection): void {
  const { stream } = (connection ?? {}) as { readonly stream?: { destroy?(): void } }
  stream?.destroy?.()
}
