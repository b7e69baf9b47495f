import { createHmac } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider that does not trust the answers it gets: one event, signed anew each time, sent three times at once. */
export async function sendThreeTimes(server: Server, path: string, secret: string): Promise<readonly number[]> {
  const { port } = server.address() as AddressInfo
  const body = JSON.stringify({ type: 'charge.succeeded', data: { amount: 12 } })
  const send = async (): Promise<number> => {
    const timestamp = String(Math.floor(Date.now() / 1_000))
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const signature = createHmac('sha256', key).update(`evt_1.${timestamp}.${body}`).digest('base64')
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    }
    return (await fetch(`http://localhost:${port}${path}`, { method: 'POST', headers, body })).status
  }
  return await Promise.all([send(), send(), send()])
}
