import { once } from 'node:events'
import { createServer } from 'node:http'
import { sendThreeTimes } from './sender.ts'

/** A route that books what it is sent. */
export async function naive(secret: string): Promise<string> {
  let bookings = 0
  const server = createServer(async (request, response) => {
    await request.toArray()
    bookings++
    response.end()
  }).listen(0)
  await once(server, 'listening')
  await sendThreeTimes(server, '/hooks', secret)
  server.close()
  return `${bookings} bookings`
}
