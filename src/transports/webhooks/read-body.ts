/** Why a body could not be read: it is larger than allowed, or the sender disconnected or was too slow. */
export type BodyTrouble = 'too-large' | 'cut-off'

/** Reads a body and stops as soon as it is too large: memory never holds more than the limit and one chunk. */
export async function readBody(
  request: Request,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | BodyTrouble> {
  const announced = request.headers.get('content-length')
  if (announced !== null && Number(announced) > maxBytes) return 'too-large'
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  // Cancelling ends a read that waits for a sender who has stopped sending.
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const chunks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (signal.aborted) return 'cut-off'
      if (done) return Buffer.concat(chunks, size)
      size += value.byteLength
      if (size > maxBytes) {
        cancel()
        return 'too-large'
      }
      chunks.push(value)
    }
  } catch {
    return 'cut-off'
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
