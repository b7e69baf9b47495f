import { once } from 'node:events'
import { createServer } from 'node:http'
import { callThreeTimes } from './client.ts'

/** Every request is a payment. */
export async function naive(): Promise<string> {
  let payments = 0
  const server = createServer(async (request, response) => {
    await request.toArray()
    response.writeHead(201).end(String(++payments))
  }).listen(0)
  await once(server, 'listening')
  await callThreeTimes(server)
  server.close()
  return `${payments} payments`
}
