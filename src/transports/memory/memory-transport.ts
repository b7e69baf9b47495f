import { systemClock } from '../../clock/index.ts'
import type { Clock, IncomingMessage, Transport, TransportCapabilities } from '../../contracts/index.ts'
import { checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import { memoryBroker } from './memory-broker.ts'
import { memoryConnection } from './memory-connection.ts'
import { type MessageToSend, toIncoming } from './message-to-send.ts'

/** What `memoryTransport()` takes. */
export interface MemoryTransportOptions {
  /** Default: `memory`. */
  readonly name?: string
  /** The clock, for tests. Default: the system clock. */
  readonly clock?: Clock
  /** With `lane`, the lane of a message is its key. Default: `key`. */
  readonly order?: TransportCapabilities['order']
  /**
   * After this time an unsettled delivery is redelivered, even if its consumer is still working on it. Use it to test such
   * redeliveries. Default: never.
   */
  readonly visibilityMs?: number
}

/** A transport without a broker, for tests, examples and experiments. Its messages are lost when the process ends. */
export interface MemoryTransport extends Transport {
  /** Makes messages available for delivery. The same message sent twice is a duplicate. */
  send(messages: MessageToSend | readonly MessageToSend[]): void
  /** Sends the message with this id again, even if it was published or is already settled. */
  duplicate(id: string): void
  /** Messages that no consumer holds, in the order of their delivery. */
  pending(): readonly IncomingMessage[]
  /** Messages that were delivered, and neither settled nor given back. */
  unsettled(): readonly IncomingMessage[]
  /** Messages settled as done, in the order of settling. A message that was sent twice appears twice. */
  settled(): readonly IncomingMessage[]
  /** Resolves when nothing is pending or unsettled. */
  idle(): Promise<void>
  /** Opens another connection to the same messages. To the transport, it is another process. */
  connect(): Transport
}

/**
 * @example
 * const transport = memoryTransport()
 * transport.send({ id: 'm1', type: 'note.created', body: { noteId: 1 } })
 * transport.duplicate('m1')
 * await transport.idle()
 */
/** A broker in the memory of the process, for tests and examples: `send()` a message, and wait for `idle()`. */
export function memoryTransport(options: MemoryTransportOptions = {}): MemoryTransport {
  checkOptions(options, ['name', 'clock', 'order', 'visibilityMs'], 'memoryTransport()')
  if (options.visibilityMs !== undefined) checkNumber(options.visibilityMs, 'visibilityMs', 1)
  const { name = 'memory', clock = systemClock, order = 'key', visibilityMs } = options
  const broker = memoryBroker(order)
  const connect = (): Transport => memoryConnection({ broker, name, clock, order, visibilityMs })

  return {
    ...connect(),
    connect,
    send(messages) {
      broker.add((isList(messages) ? messages : [messages]).map((message) => toIncoming(message, name)))
    },
    duplicate(id) {
      const message = broker.find(id)
      if (message === undefined) {
        throw new JustonceError('OPTION_INVALID', { message: `duplicate('${id}'): no message of this id was sent.` })
      }
      broker.add([message])
    },
    pending: broker.pending,
    unsettled: broker.unsettled,
    settled: broker.settled,
    async idle() {
      while (!broker.isIdle()) await broker.changed()
    },
  }
}

function isList(messages: MessageToSend | readonly MessageToSend[]): messages is readonly MessageToSend[] {
  return Array.isArray(messages)
}
