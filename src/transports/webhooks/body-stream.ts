import type { Readable } from 'node:stream'

/**
 * The body of a request as a web stream. Not `Readable.toWeb`: cancelling that destroys the connection, and with it the
 * response that says why.
 */
export function bodyStream(request: Readable): ReadableStream<Uint8Array> {
  let ended = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (how: () => void): void => {
          if (ended) return
          ended = true
          how()
        }
        request.on('data', (chunk: Uint8Array) => {
          if (ended) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) request.pause()
        })
        // If a stream was reset without an error code, HTTP/2 emits `end` after this, as if the body were complete.
        request.on('aborted', () => end(() => controller.error(new Error('The sender has given up.'))))
        request.on('end', () => end(() => controller.close()))
        request.on('error', (error) => end(() => controller.error(error)))
        request.on('close', () => end(() => controller.error(new Error('The sender went away.'))))
        request.pause()
      },
      pull() {
        request.resume()
      },
      cancel() {
        ended = true
        request.pause()
      },
    },
    { highWaterMark: 65_536, size: (chunk) => chunk.byteLength },
  )
}
