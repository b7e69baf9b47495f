import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { redisClient } from './clients.ts'

/** Takes connections and says nothing, as a frozen server does: its machine answers for it. */
async function silentServer(): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a Redis that takes the connection and never answers is given up', async () => {
  await expect(redisClient('status', await silentServer(), 50)).rejects.toThrow('has said nothing for 50 ms')
})
