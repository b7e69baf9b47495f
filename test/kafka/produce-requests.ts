import { Socket } from 'node:net'
import { onTestFinished, vi } from 'vitest'

/** A request of a producer, as the broker gets it. */
export interface ProduceRequest {
  /** -1: all replicas must have it before it is answered. */
  readonly acks: number
  /** By these three the broker recognises what it already has. */
  readonly producerId: bigint
  readonly epoch: number
  readonly sequence: number
  readonly socket: Socket
}

const produceKey = 0

/** Calls back with each request of a producer that leaves this process, before it is written. */
export function onProduceRequest(port: number, seen: (request: ProduceRequest) => void): void {
  const write = Socket.prototype.write
  const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...given: unknown[]) {
    const [bytes] = given
    if (this.remotePort === port && Buffer.isBuffer(bytes)) {
      const request = readProduce(bytes)
      if (request !== undefined) seen({ ...request, socket: this })
    }
    return write.apply(this, given as Parameters<typeof write>)
  })
  onTestFinished(() => spy.mockRestore())
}

/** Undefined if it is another request. See "Produce" in https://kafka.apache.org/protocol, and its record batches. */
function readProduce(frame: Buffer): Omit<ProduceRequest, 'socket'> | undefined {
  const version = frame.readInt16BE(6)
  if (frame.readInt16BE(4) !== produceKey) return undefined
  if (version < 9) throw new Error(`Version ${version} of Produce is older than this reads.`)
  const clientIdLength = Math.max(0, frame.readInt16BE(12))
  // After the header and its tagged fields, the id of a transaction: both are one byte if there are none.
  const transactionalId = 14 + clientIdLength + 1
  if (frame[transactionalId] !== 0) throw new Error('It is part of a transaction.')
  const acks = frame.readInt16BE(transactionalId + 1)
  // The only batch is at the end; its beginning is found by the length that it says.
  const batch = batchIn(frame)
  return {
    acks,
    producerId: frame.readBigInt64BE(batch + 43),
    epoch: frame.readInt16BE(batch + 51),
    sequence: frame.readInt32BE(batch + 53),
  }
}

/** Format 2, and as long as it says: behind it there are only a few empty lists of tagged fields. */
function batchIn(frame: Buffer): number {
  for (let start = 14; start < frame.length - 61; start++) {
    const left = frame.length - (start + 12 + frame.readInt32BE(start + 8))
    if (frame[start + 16] === 2 && left >= 0 && left <= 3) return start
  }
  throw new Error('There is no batch of records in it.')
}
