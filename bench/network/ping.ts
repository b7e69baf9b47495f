import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { localhost } from '../../test/servers/address.ts'
import { quantile } from '../rounds.ts'

/** How long the round trips of a ping-pong took. */
export interface RoundTrips {
  readonly medianMs: number
  readonly p99Ms: number
}

/** Sends back whatever it receives. */
export async function startEcho(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const server = createServer({ noDelay: true }, (socket) => socket.pipe(socket))
  server.listen(0, localhost)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close()
      await once(server, 'close')
    },
  }
}

/** About as much as a small statement, there and back, one after the other. */
export async function pingPong(port: number, count = 500): Promise<RoundTrips> {
  const socket = connect({ host: localhost, port, noDelay: true })
  await once(socket, 'connect')
  for (let i = 0; i < 50; i++) await ping(socket)
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const begunAt = performance.now()
    await ping(socket)
    times.push(performance.now() - begunAt)
  }
  socket.end()
  await once(socket, 'close')
  return { medianMs: quantile(times, 0.5), p99Ms: quantile(times, 0.99) }
}

async function ping(socket: Socket): Promise<void> {
  const answered = once(socket, 'data')
  socket.write(Buffer.alloc(100))
  await answered
}
