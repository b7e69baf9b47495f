import { type Connection, text } from './connection.ts'

/** `undefined` if the server has no such setting. Rejects if the user may not ask. */
export async function serverSetting(connection: Connection, name: string): Promise<string | undefined> {
  const reply = await connection.send('CONFIG', 'GET', name)
  // Clients return an array or, newer ones, an object or a map.
  if (Array.isArray(reply)) return reply[1] === undefined ? undefined : text(reply[1])
  if (reply instanceof Map) return reply.has(name) ? text(reply.get(name)) : undefined
  const value = (reply as Record<string, unknown> | null)?.[name]
  return value === undefined ? undefined : text(value)
}
