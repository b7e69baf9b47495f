import type { IncomingMessage } from '../../contracts/index.ts'

const mark = ' (neighbour)'

/** Another message of the same type, whose handlers always fail. */
export function neighbourOf(message: IncomingMessage): IncomingMessage {
  return { ...message, id: `${message.id}${mark}` }
}

export function isNeighbour(id: string | undefined): boolean {
  return id?.endsWith(mark) ?? false
}
