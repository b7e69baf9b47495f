import type { OutgoingMessage, Transport } from '../contracts/index.ts'

/** What a transport must be able to do for a case to make sense, read from the transport and its context. */
export type TransportNeed =
  | 'competing'
  | 'count'
  | 'count-or-flag'
  | 'key-order'
  | 'lane-order'
  | 'inside'
  | 'positions'
  // … given by the driver
  | 'death'
  | 'refusal'
  | 'byte-limit'

/** One queue, initially empty, and any number of connections to it. Each case gets a fresh one. */
export interface TransportCaseContext {
  /** Opens a separate connection to the queue. To the broker, it is another process. */
  connect(): Promise<Transport>
  /** Opens a connection that can die like a killed process: nothing is settled, given back or renewed. */
  connectMortal?(): Promise<{ readonly transport: Transport; die(): Promise<void> }>
  /** What makes the broker refuse a message, if anything does. */
  readonly refused?: Partial<OutgoingMessage>
  /** Whether it limits the total size of the unsettled bodies (`maxBytes`), as far as a single message allows. */
  readonly limitsBytes?: boolean
  /** How long a case waits for something that must happen before it fails. Default: ten seconds. */
  readonly patienceMs?: number
  /** Closes all connections and removes the queue. */
  close(): Promise<void>
}

/**
 * One rule that every transport must keep, as data: bind it to any test runner. It throws, through `node:assert`, if the
 * transport breaks the rule.
 *
 * ```ts
 * for (const each of transportCases) test(each.name, () => runTransportCase(each, openMyQueue))
 * ```
 */
export interface TransportCase {
  readonly name: string
  readonly needs?: readonly TransportNeed[]
  run(context: TransportCaseContext): Promise<void>
}
