import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A client that gets no answer in time, and repeats its request. */
export async function callThreeTimes(server: Server): Promise<readonly string[]> {
  const answers = []
  for (let attempt = 1; attempt <= 3; attempt++) answers.push(await pay(server, 12))
  return answers
}

export async function callWithOtherContent(server: Server): Promise<string> {
  return await pay(server, 1_000)
}

export async function callWithNonsense(server: Server): Promise<string> {
  return await call(server, '{ amount: 12')
}

const pay = (server: Server, amount: number) => call(server, JSON.stringify({ amount }))

async function call(server: Server, body: string): Promise<string> {
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://localhost:${port}/payments`, {
    method: 'POST',
    headers: { 'idempotency-key': 'client-made-this-up-once' },
    body,
  })
  return `${response.status} ${await response.text()}`.trim()
}
