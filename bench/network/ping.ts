import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { localhost } from '../../test/servers/address.ts'
import { quantile } from '../rounds.ts'

/** Of a ping-pong. */
export interface RoundTrips {
  /** Hardly disturbed by whatever else the machine does. */
  readonly p10Ms: number
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

/** How much longer a round trip takes to one port than to the other. In turn, so that a busy machine hits both alike. */
export async function addedRoundTrip(farPort: number, nearPort: number, count = 500): Promise<RoundTrips> {
  const [far, near] = [await open(farPort), await open(nearPort)]
  const times: { readonly far: number; readonly near: number }[] = []
  for (let i = 0; i < count; i++) times.push({ far: await ping(far), near: await ping(near) })
  for (const socket of [far, near]) {
    socket.end()
    await once(socket, 'close')
  }
  const warm = times.slice(count / 10)
  const nearMs = quantile(
    warm.map((each) => each.near),
    0.1,
  )
  const added = warm.map((each) => each.far - nearMs)
  return { p10Ms: quantile(added, 0.1), medianMs: quantile(added, 0.5), p99Ms: quantile(added, 0.99) }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ host: localhost, port, noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** About as much as a small statement, there and back. */
async function ping(socket: Socket): Promise<number> {
  const begunAt = performance.now()
  const answered = once(socket, 'data')
  socket.write(Buffer.alloc(100))
  await answered
  return performance.now() - begunAt
}
