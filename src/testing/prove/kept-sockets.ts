import { Socket as UdpSocket } from 'node:dgram'
import { Socket } from 'node:net'
import { currentInside, type Inside } from './inside-handler.ts'
import { isThisMachine } from './this-machine.ts'

type Method = (this: never, ...values: unknown[]) => unknown
type Sends = (what: string, host: string | undefined) => void

/**
 * A client that was connected before the handler ran makes no new socket, and what is written to one that is open is reported by
 * no diagnostics channel. One report for each socket and call of a handler is enough.
 */
export function watchKeptSockets(sends: Sends): () => void {
  const told = new WeakMap<Inside, WeakSet<object>>()
  const tell = (inside: Inside, socket: object, what: string, host: string | undefined): void => {
    const sockets = told.get(inside) ?? new WeakSet()
    told.set(inside, sockets)
    if (!sockets.has(socket)) sends(what, host)
    sockets.add(socket)
  }
  const writes = (socket: Socket): void => {
    const inside = currentInside()
    if (inside === undefined) return
    const { remoteAddress: host, remotePort: port } = socket
    // A pipe, such as the standard output; or not connected yet, which is reported as a new socket.
    if (host === undefined) return
    if (!isAt(inside.database, host, port)) tell(inside, socket, `an open connection to ${host}:${port}`, host)
  }
  const sendsOff = (socket: UdpSocket, values: readonly unknown[]): void => {
    const inside = currentInside()
    if (inside !== undefined) tell(inside, socket, 'a UDP socket', receiver(socket, values))
  }
  const unwatch = [
    before(Socket.prototype, 'write', writes),
    before(Socket.prototype, 'end', (socket, [chunk]) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) writes(socket)
    }),
    before(UdpSocket.prototype, 'send', sendsOff),
  ]
  return () => {
    for (const each of unwatch) each()
  }
}

const usualPorts: Readonly<Record<string, number>> = { 'mysql:': 3306, 'mariadb:': 3306 }

/**
 * What is written to the scratch database, through whichever connection, is seen in its tables. A socket shows no more than an
 * address, which need not be the name that was given. So any database at this port is taken for it: on this machine if it is here,
 * and otherwise on any other.
 */
function isAt(database: string, host: string, port: number | undefined): boolean {
  const url = URL.parse(database)
  if (url === null) return false
  const usual = usualPorts[url.protocol] ?? process.env.PGPORT ?? 5432
  return Number(url.port || usual) === port && isThisMachine(url.hostname) === isThisMachine(host)
}

/** The address follows the message, and what of it is sent, and the port. Without one it is this machine. */
function receiver(socket: UdpSocket, [, ...values]: readonly unknown[]): string | undefined {
  const given = values.find((value) => typeof value === 'string')
  if (given !== undefined) return given
  try {
    return socket.remoteAddress().address
  } catch {
    return undefined
  }
}

/** Calls `notice` before each call of a method, which may be an inherited one. */
function before<T extends object>(
  prototype: T,
  name: keyof T & string,
  notice: (self: T, values: readonly unknown[]) => void,
): () => void {
  const own = Object.getOwnPropertyDescriptor(prototype, name)
  const given = prototype[name] as Method
  function noticing(this: T, ...values: unknown[]): unknown {
    notice(this, values)
    return Reflect.apply(given, this, values)
  }
  Object.defineProperty(prototype, name, { value: noticing, writable: true, configurable: true, enumerable: true })
  return () => {
    // Somebody else may have wrapped it meanwhile.
    if (prototype[name] !== (noticing as unknown)) return
    if (own === undefined) delete prototype[name]
    else Object.defineProperty(prototype, name, own)
  }
}
