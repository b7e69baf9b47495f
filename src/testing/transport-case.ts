import type { OutgoingMessage, Transport } from '../contracts/index.ts'

/** What a transport must be able to do for a case to make sense on it; read from the transport and its context. */
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

/** One queue, at first empty, and any number of connections to it. Each case gets a fresh one. */
export interface TransportCaseContext {
  /** Opens a connection of its own to the queue: another process, as far as the broker can tell. */
  connect(): Promise<Transport>
  /** A connection that can die as a killed process does: nothing is settled, nothing given back, nothing renewed. */
  connectMortal?(): Promise<{ readonly transport: Transport; die(): Promise<void> }>
  /** What makes the broker refuse a message, where something does. */
  readonly refused?: Partial<OutgoingMessage>
  /** How long a case waits for what must happen before it fails. Default ten seconds. */
  readonly patienceMs?: number
  /** Closes all connections and removes the queue. */
  close(): Promise<void>
}

/**
 * One sentence that every transport must keep, as data: bind it to any test runner. It throws, by `node:assert`, when
 * the transport does not keep it.
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
