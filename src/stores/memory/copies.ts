import type { PackedMessage } from '../../contracts/index.ts'

/** The sender or receiver of a message may change its bytes; the stored copy must not change with them. */
export function copyOfMessage({ envelope, body }: PackedMessage): PackedMessage {
  return { envelope: new Uint8Array(envelope), body: new Uint8Array(body) }
}
