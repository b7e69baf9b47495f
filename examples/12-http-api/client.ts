import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A client that gets no answer in time, and repeats its request. */
export async function callThreeTimes(server: Server): Promise<readonly string[]> {
  const answers = []
  for (let attempt = 1; attempt <= 3; attempt++) answers.push(await call(server, 12))
  return answers
}

export async function callWithOtherContent(server: Server): Promise<string> {
  return await call(server, 1_000)
}

async function call(server: Server, amount: number): Promise<string> {
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://localhost:${port}/payments`, {
    method: 'POST',
    headers: { 'idempotency-key': 'client-made-this-up-once' },
    body: JSON.stringify({ amount }),
  })
  return `${response.status} ${await response.text()}`.trim()
}
