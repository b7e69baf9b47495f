import { inTime } from '../../clock/index.ts'
import type { Clock } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { brokerError } from './broker-errors.ts'
import type { AmqpConnection } from './client-shapes.ts'

/** One connection, opened when it is needed and reopened when it was lost. */
export interface Link {
  /** Resolves to the connection and a channel created from it. */
  open<C>(create: (connection: AmqpConnection) => PromiseLike<C>): Promise<Opened<C>>
  /** The client's error about the current or the last connection. */
  whyLost(): unknown
  /** Why the broker takes nothing from the current connection, as long as it does not. */
  whyBlocked(): string | undefined
  /** The version of the RabbitMQ of the last connection, if the client passes it on. */
  version(): string | undefined
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
  let blockedBy: string | undefined
  let version: string | undefined

  const openNew = async (): Promise<AmqpConnection> => {
    const connecting = begin(connect)
    const connection = await inTime(connecting, { clock, withinMs: timeoutMs })
    if (connection === undefined) {
      // It may still succeed later, and would then stay open unnoticed.
      void connecting.then((late) => late.close()).catch(() => {})
      throw new JustonceError('BROKER_UNREACHABLE', { message: `RabbitMQ did not answer within ${timeoutMs} ms.` })
    }
    // A close follows the error. Without this listener, the error would end the process.
    lostBy = undefined
    blockedBy = undefined
    version = versionOf(connection)
    // It keeps silent about everything else until then, so this is all that can be said.
    connection.on('blocked', (reason) => {
      blockedBy = String(reason)
    })
    connection.on('unblocked', () => {
      blockedBy = undefined
    })
    connection.on('error', (error) => {
      lostBy = error
    })
    connection.on('close', () => letSocketGo(connection))
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
        // It may have been lost before we listened, and would never report that again.
        forget(opening)
        void begin(() => connection.close()).catch(() => {})
        throw error
      }
    },
    whyLost: () => lostBy,
    whyBlocked: () => blockedBy,
    version: () => version,
    async close() {
      const opened = current
      current = undefined
      // A connection that is still being opened is closed once it is open.
      const opening = opened?.catch(() => undefined) ?? Promise.resolve(undefined)
      const connection = await inTime(opening, { clock, withinMs: farewellMs })
      if (connection === undefined) void opening.then((late) => late?.close()).catch(() => {})
      if (connection === undefined) return
      const closed = await inTime(
        begin(() => connection.close()).then(
          () => true,
          // It was already closed, which is just as good.
          () => true,
        ),
        { clock, withinMs: farewellMs },
      )
      if (closed === undefined) destroySocket(connection)
    },
  }
}

/** A client may throw instead of rejecting, for an unreadable URL or a closed channel. */
async function begin<T>(call: () => PromiseLike<T>): Promise<T> {
  return call()
}

/** Used if the other side does not answer our close. */
function destroySocket(connection: AmqpConnection): void {
  socketOf(connection)?.destroy?.()
}

/**
 * The client only says that it sends nothing more. A broker that reads nothing, because it is short of memory or frozen, does
 * not hear that and leaves the other half open, and the process would not end.
 */
function letSocketGo(connection: AmqpConnection): void {
  const socket = socketOf(connection)
  socket?.unref?.()
  socket?.destroySoon?.()
}

interface SocketShape {
  destroy?(): void
  destroySoon?(): void
  unref?(): void
}

function socketOf({ connection }: AmqpConnection): SocketShape | undefined {
  return ((connection ?? {}) as { readonly stream?: SocketShape }).stream
}

interface ServerShape {
  readonly product?: unknown
  readonly version?: unknown
}

/** Other servers that speak AMQP count their versions differently. */
function versionOf({ connection }: AmqpConnection): string | undefined {
  const { serverProperties } = (connection ?? {}) as { readonly serverProperties?: ServerShape }
  const { product, version } = serverProperties ?? {}
  return product === 'RabbitMQ' && typeof version === 'string' ? version : undefined
}
